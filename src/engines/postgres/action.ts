/** What the operator asks of Patroni. */

/** A member that is asked: its pod, and where it answers. */
export interface Asked {
  readonly pod: string;
  readonly address: string;
}

export type PostgresAction =
  /** Changes the shared configuration. Fields that are null go. */
  | { readonly type: 'postgres.configure'; readonly via: Asked; readonly patch: Readonly<Record<string, unknown>> }
  /** The primary hands over to a standby. */
  | { readonly type: 'postgres.switchover'; readonly via: Asked; readonly from: string; readonly to: string }
  /** Makes the first database, its owner and the owner's password what the spec and the Secret say. */
  | {
      readonly type: 'postgres.makeApplication';
      readonly via: Asked;
      readonly hasOwner: boolean;
      readonly hasDatabase: boolean;
    }
  /** PostgreSQL and Patroni read their files anew. */
  | { readonly type: 'postgres.reload'; readonly member: Asked }
  /** Deletes the member's data, and copies that of the primary. */
  | { readonly type: 'postgres.reinitialize'; readonly member: Asked }
  /** The member becomes primary though Patroni would not promote it. A person has asked for that. */
  | { readonly type: 'postgres.failover'; readonly member: Asked }
  /** PostgreSQL starts again, and Patroni stays. */
  | { readonly type: 'postgres.restart'; readonly member: Asked };
