import { expect, it } from 'vitest';
import { notInstalled } from '../../src/sandbox/packages.ts';

const status = `Package: openssl
Status: install ok installed
Description: Secure Sockets Layer toolkit
 See also:
 .
 Package: not-a-package

Package: socat
Status: deinstall ok config-files

Package: containerd
Status: hold ok installed
`;

it('packages that are removed, unknown or only mentioned are missing, each named once', () => {
  const wanted = ['openssl', 'socat', 'containerd', 'mmdebstrap', 'mmdebstrap', 'not-a-package'];
  expect(notInstalled(wanted, status)).toEqual(['socat', 'mmdebstrap', 'not-a-package']);
});
