import { spawnSync } from 'node:child_process';

export const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
