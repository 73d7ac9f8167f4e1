/** The cluster bus of servers on the loopback network, through a proxy before each: one server may be cut off from it, while clients reach it. */
import { connect, createServer, type Server, type Socket } from 'node:net';

const announcedPort = 16_379;
const ownPort = 26_379;

/** Of the configuration of each server. */
export const busProxyLines = [`cluster-port ${ownPort}`, `cluster-announce-bus-port ${announcedPort}`] as const;

export interface BusProxy {
  /** Links to it and from it end, and there are no new ones. Nobody: all have links again. */
  cut(address: string | undefined): void;
  close(): void;
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly sockets: readonly Socket[];
}

/** Servers connect from their own addresses. */
export async function busProxy(addresses: readonly string[]): Promise<BusProxy> {
  let cutOff: string | undefined;
  const links = new Set<Link>();
  const isCut = ({ from, to }: Link): boolean => from === cutOff || to === cutOff;
  const end = (link: Link): void => {
    links.delete(link);
    for (const socket of link.sockets) socket.destroy();
  };
  const servers = await Promise.all(
    addresses.map(
      (to) =>
        new Promise<Server>((resolve, reject) => {
          const server = createServer((incoming) => {
            const outgoing = connect(ownPort, to);
            const link = { from: incoming.remoteAddress ?? '', to, sockets: [incoming, outgoing] };
            links.add(link);
            for (const socket of link.sockets) {
              socket.on('error', () => end(link));
              socket.on('close', () => end(link));
            }
            if (isCut(link)) return end(link);
            incoming.pipe(outgoing);
            outgoing.pipe(incoming);
          });
          server.once('error', reject);
          server.listen(announcedPort, to, () => resolve(server));
        }),
    ),
  );
  return {
    cut(address) {
      cutOff = address;
      for (const link of [...links]) if (isCut(link)) end(link);
    },
    close() {
      for (const link of [...links]) end(link);
      for (const server of servers) server.close();
    },
  };
}
