/** What the operator asks of Patroni. */

/** A member that is asked: its pod, and where it answers. */
export interface Asked {
  readonly pod: string;
  readonly address: string;
}

/** Clients wait in these poolers while the primary is interrupted. */
export interface Pause {
  readonly poolers: readonly Asked[];
  /** Address of who takes writes afterwards. */
  readonly primary: string;
}

export type PostgresAction =
  /** Changes the shared configuration. Fields that are null go. */
  | { readonly type: 'postgres.configure'; readonly via: Asked; readonly patch: Readonly<Record<string, unknown>> }
  /** The primary hands over to a standby. */
  | {
      readonly type: 'postgres.switchover';
      readonly via: Asked;
      readonly from: string;
      readonly to: string;
      readonly pause?: Pause;
    }
  /** Makes the first database, its owner and the owner's password what the spec and the Secret say. */
  | {
      readonly type: 'postgres.makeApplication';
      readonly via: Asked;
      readonly hasOwner: boolean;
      readonly hasDatabase: boolean;
    }
  /**
   * Of a logical import: makes the empty database that its Job fills, drops what is left of an earlier attempt, or makes a whole copy the
   * first database.
   */
  | {
      readonly type: 'postgres.stage';
      readonly via: Asked;
      readonly change: 'create' | 'drop' | 'publish';
      readonly database: string;
    }
  /** The first database has its content: see `filledMark`. */
  | { readonly type: 'postgres.markFilled'; readonly via: Asked }
  /** PostgreSQL and Patroni read their files anew. */
  | { readonly type: 'postgres.reload'; readonly member: Asked }
  /** Deletes the member's data, and copies that of the primary. */
  | { readonly type: 'postgres.reinitialize'; readonly member: Asked }
  /** The member becomes primary though Patroni would not promote it. A person has asked for that. */
  | { readonly type: 'postgres.failover'; readonly member: Asked }
  /** Tells a member that imports what the source wants to see. */
  | { readonly type: 'postgres.import'; readonly member: Asked }
  /** A person asks for the end of the import, or does not any more. */
  | { readonly type: 'postgres.cutOver'; readonly member: Asked; readonly request?: string }
  /** PostgreSQL starts again, and Patroni stays. */
  | { readonly type: 'postgres.restart'; readonly member: Asked; readonly pause?: Pause }
  /** Poolers let their clients go on. */
  | { readonly type: 'postgres.resume'; readonly poolers: readonly Asked[] }
  /** Gives one of the operator's roles the password of its Secret. */
  | { readonly type: 'postgres.setLogin'; readonly via: Asked; readonly role: string; readonly secret: string };

/** What the operator asks of the primary for a PostgresDatabase or a PostgresUser. Nothing in it is a secret. */
export type ContentAction =
  | {
      readonly type: 'postgres.run';
      readonly address: string;
      readonly database: string;
      /** One statement, or several that are one transaction. */
      readonly sql: string;
      /** What a superuser can run instead, where PostgreSQL wants one. */
      readonly manual?: string;
    }
  /** The verifier of the password in the Secret stands between `before` and `after`. */
  | {
      readonly type: 'postgres.setPassword';
      readonly address: string;
      readonly before: string;
      readonly after: string;
      readonly secret: PasswordSource;
    };

export interface PasswordSource {
  readonly name: string;
  readonly key: string;
  /** Changes when somebody says that the Secret has changed. */
  readonly told?: string;
}
