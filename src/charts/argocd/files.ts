/** `dist/argocd/`: what Argo CD needs to know of our kinds. */
import { engines } from '../../engines/index.ts';
import { handlersOf } from '../../jobs/handlers.ts';
import { customizationOf } from './customizations.ts';
import { repositoryFiles } from './repository-files.ts';
import { settingsFiles } from './settings.ts';

export function argocdFiles(): Readonly<Record<string, string>> {
  const handlers = handlersOf(engines);
  const customizations = handlers.map(({ kind }) => customizationOf(kind));
  const ofRepository = handlers.map((handler) => repositoryFiles(handler, customizationOf(handler.kind)));
  return Object.assign({}, settingsFiles(customizations), ...ofRepository) as Record<string, string>;
}
