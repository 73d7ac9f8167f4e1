/** Where the GitOps tool reads `deploy/` from. */

export const repository = 'https://git.example.com/platform/databases.git';
export const branch = 'main';
