/** SQL expressions of tasks: a task as JSON, for webhook messages and copies of results, and its start. */

/** Whether the product of a task was ordered with the vendor's mark. */
export const isMarkedOf = (task: string): string =>
  `coalesce(${task}.summary -> 'marked' = 'true'::jsonb, false)`

/** When the vendor began a task, or the time of the order if no vendor has. */
export const startOf = (task: string): string => `coalesce(${task}.accepted_at, ${task}.created_at)`

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
