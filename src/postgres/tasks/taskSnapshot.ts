/** The SQL expression of a task as JSON, for webhook messages and copies of results. */

/** Whether the product of a task was ordered with the vendor's mark. */
export const isMarkedOf = (task: string): string =>
  `coalesce(${task}.summary -> 'marked' = 'true'::jsonb, false)`

/**
 * The snapshot is null for an erased task. The result stays a text, since `jsonb` does not accept
 * every character that a result may have.
 */
export const taskSnapshotOf = (organizationId: string, id: string): string => `
  (SELECT jsonb_build_object('id', t.id, 'memberId', t.member_id, 'state', t.state, 'videoUrl', t.video_url,
            'result', t.result, 'completionTokens', t.completion_tokens::text,
            'errorCode', t.error_code, 'errorMessage', t.error_message,
            'isArchived', t.is_archived, 'isMarked', ${isMarkedOf("t")})
     FROM tasks t WHERE t.organization_id = ${organizationId} AND t.id = ${id}
      AND t.erased_at IS NULL)`
