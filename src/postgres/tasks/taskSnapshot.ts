/** A task as a column, for those who tell of it or load what it made. */

/** As JSON; null when it was erased. The result stays text in it: it may hold characters that `jsonb` does not take. */
export const taskSnapshotOf = (organizationId: string, id: string): string => `
  (SELECT jsonb_build_object('id', t.id, 'memberId', t.member_id, 'state', t.state, 'videoUrl', t.video_url,
            'result', t.result, 'completionTokens', t.completion_tokens::text,
            'errorCode', t.error_code, 'errorMessage', t.error_message,
            'isArchived', t.is_archived)
     FROM tasks t WHERE t.organization_id = ${organizationId} AND t.id = ${id}
      AND t.erased_at IS NULL)`
