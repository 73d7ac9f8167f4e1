/** What is inside of a PostgresCluster, in a user's own cdk8s app. */
import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { userConnection } from '../engines/postgres/definition.ts';
import { type DatabaseSpecInput, databaseKind } from '../engines/postgres/kind/database.ts';
import { type UserSpecInput, userKind } from '../engines/postgres/kind/user.ts';
import { checkedObject, type ResourceProps } from './checked-object.ts';
import { type Connection, connectionTo } from './connection.ts';

export type PostgresDatabaseProps = ResourceProps<DatabaseSpecInput>;

export class PostgresDatabase extends Construct {
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, props: PostgresDatabaseProps) {
    super(scope, id);
    this.apiObject = checkedObject(this, databaseKind, props);
  }
}

export type PostgresUserProps = ResourceProps<UserSpecInput>;

export class PostgresUser extends Construct {
  readonly apiObject: ApiObject;
  /** What an application needs to connect as this user. */
  readonly connection: Connection;

  constructor(scope: Construct, id: string, props: PostgresUserProps) {
    super(scope, id);
    const { metadata, spec } = props;
    this.apiObject = checkedObject(this, userKind, props);
    const namespace = metadata.namespace ?? Chart.of(this).namespace;
    const reached = { name: metadata.name, ...(namespace === undefined ? {} : { namespace }) };
    this.connection = connectionTo(this, userConnection(reached, spec));
  }
}
