/** A CoreDNS with the plugins that the sandbox's Corefile names: as released it has fifty, and takes minutes to compile. */
const plugins = ['bind', 'errors', 'kubernetes'] as const;

export const corednsMain = `package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
${plugins.map((name) => `\t_ "github.com/coredns/coredns/plugin/${name}"`).join('\n')}
)

func main() {
	dnsserver.Directives = []string{${plugins.map((name) => `"${name}"`).join(', ')}}
	coremain.Run()
}
`;
