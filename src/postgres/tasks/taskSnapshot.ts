/** The SQL expression of a task as JSON, for webhook messages and copies of results. */

/** Whether the product of a task was ordered with the vendor's mark. */
export const isMarkedOf = (task: string): string =>
  `coalesce(${task}.summary -> 'marked' = 'true'::jsonb, false)`

/**
 * The snapshot is null for an erased task. The result stays a text, since `jsonb` does not accept
 * every character that a result may have.
 */
export const taskSnapshotOf = (task: string): string => `
  CASE WHEN ${task}.erased_at IS NULL THEN jsonb_build_object(
    'id', ${task}.id, 'memberId', ${task}.member_id, 'state', ${task}.state,
    'channelId', ${task}.channel_id, 'protocol', ${task}.protocol,
    'accountVersion', ${task}.account_version, 'keyName', ${task}.key_name,
    'videoUrl', ${task}.video_url, 'stills', ${task}.stills, 'result', ${task}.result,
    'completionTokens', ${task}.completion_tokens::text, 'errorCode', ${task}.error_code,
    'errorMessage', ${task}.error_message, 'isArchived', ${task}.is_archived,
    'isMarked', ${isMarkedOf(task)}) END`
