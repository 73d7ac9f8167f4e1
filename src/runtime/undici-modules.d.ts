/** The parts of undici that `undici-dispatchers.ts` loads one by one; the package describes only its index. */
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client } from 'undici';

  const client: typeof Client;
  export = client;
}
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici';

  const pool: typeof Pool;
  export = pool;
}
declare module 'undici/lib/dispatcher/dispatcher.js' {
  import type { Dispatcher } from 'undici';

  const dispatcher: typeof Dispatcher;
  export = dispatcher;
}
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';

  export = buildConnector;
}
declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici';

  const api: {
    request(
      this: Pick<Dispatcher, 'dispatch'>,
      options: Dispatcher.RequestOptions,
    ): Promise<Dispatcher.ResponseData<null>>;
  };
  export = api;
}
