/** Settings of a server that are not in force yet, or never will be. */
import { boolean, optional, question, text } from '../question.ts';

export interface PendingSetting {
  readonly name: string;
  /** In force. */
  readonly value: string;
  /** It is in the configuration, and takes a restart. */
  readonly pendingRestart: boolean;
  /** Why the configuration was refused; undefined where it was not. */
  readonly refused: string | undefined;
}

export const pendingSettingsQuestion = question<PendingSetting>(
  `SELECT left(name, 128) AS name, left(value, 200) AS value, pending AS "pendingRestart", left(error, 200) AS refused
FROM (
  SELECT s.name, coalesce(s.setting, '') AS value, s.pending_restart AS pending, NULL AS error
  FROM pg_settings AS s WHERE s.pending_restart
  UNION ALL
  SELECT coalesce(f.name, ''), coalesce(f.setting, ''), false, f.error
  FROM pg_file_settings AS f WHERE f.error IS NOT NULL AND f.error <> 'setting could not be applied'
) AS found ORDER BY name LIMIT 64`,
  { name: text, value: text, pendingRestart: boolean, refused: optional(text) },
);
