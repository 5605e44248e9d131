/**
 * Mistakes that a maintainer could make outside of the ledger, by area. Each of them loses money,
 * makes work for nothing, charges twice, breaks the promise of an idempotency key, loses or doubles
 * a webhook, loses a waiting order, or holds for ever. A name says what the mistake does.
 */
import { type Mutant, mutantsIn } from "./mutant.ts"

const orders = mutantsIn({
  "src/orders/paidOrder.ts": [
    [
      "the vendor is called while the hold is written",
      'yield* hold(open)\n    yield* open.reach("held")',
      'yield* Effect.forkDetach(hold(open))\n    yield* open.reach("held")'
    ]
  ],
  "src/orders/orderEnds.ts": [
    [
      "images are answered while their charge is written",
      "inCaptureSpan(capture(open, finish))",
      "Effect.andThen(Effect.forkDetach(inCaptureSpan(capture(open, finish))), finish.answer)"
    ],
    [
      "an error is answered while its hold is released",
      "return Effect.andThen(release(open, error, doubtOf(failure), stored), Effect.fail(error))",
      `return Effect.andThen(
      Effect.forkDetach(release(open, error, doubtOf(failure), stored)),
      Effect.fail(error)
    )`
    ],
    [
      "an order whose job may exist ends without an orphan",
      "orphan,\n      failure,\n      forgetKey,",
      "orphan: null,\n      failure,\n      forgetKey,"
    ]
  ],
  "src/orders/Orders.ts": [
    [
      "a client that hangs up stops its order",
      "(order) => detached.run(runOrder(order, key)))",
      "(order) => runOrder(order, key))"
    ]
  ],
  "src/domain/VendorOutcome.ts": [
    [
      "a lost answer counts as if nothing was made",
      'return { reason: failure.isDuplicate === true ? "duplicate_job" : failure.reason, ...answerIds }',
      'return failure.isDuplicate === true ? { reason: "duplicate_job", ...answerIds } : null'
    ],
    [
      "an error of the vendor counts as if nothing was made",
      "return failure.isVerdict === true\n    ? null",
      "return failure.isVerdict === true || failure.effectiveStatus === 500\n    ? null"
    ],
    [
      "an order goes to the next channel after a lost answer",
      'return failure._tag === "VendorUnreachable" || (proof !== null && proof !== "refused")',
      'return failure._tag !== "VendorRefused" || (proof !== null && proof !== "refused")'
    ]
  ],
  "src/channels/keyTurns.ts": [
    [
      "a paid call whose connection was lost is sent again",
      "const result = call(account)\n",
      `const result = Effect.retry(call(account), {
      times: 1,
      while: (failure) => failure._tag === "VendorLost" && failure.reason === "connection_lost"
    })
`
    ]
  ],
  "src/services/ledgerAnswers.ts": [
    [
      "images of a dead gateway end without an orphan",
      'orphan: { upstreamId: null, reason: "gateway_stopped" }',
      "orphan: null"
    ]
  ],
  "src/postgres/ledger/LedgerPostgres.ts": [
    [
      "the end of a task is written after the release of its hold",
      '(request) => close({ _tag: "Release", request })',
      `(request) =>
      Effect.tap(close({ _tag: "Release", request: { ...request, task: null } }), ({ won }) => {
        const { organizationId, holdId, task } = request
        if (!won || task === null || !("errorCode" in task)) return Effect.void
        return retryBriefly(sql\`
          UPDATE tasks SET state = \${task.state}, error_code = \${task.errorCode},
                           error_message = \${task.errorMessage}, next_poll_at = NULL,
                           finished_at = now()
           WHERE organization_id = \${organizationId} AND id = \${holdId}
             AND state = \${task.from}\`)
      })`
    ]
  ]
})

const polling = mutantsIn({
  "src/adapters/common/videoStatus.ts": [
    [
      "an unknown status ends a task as failed",
      'return Result.succeed({ _tag: "Processing", unknownStatus: statusName })',
      'return Result.succeed({ _tag: "Failed", code: statusName, message: failures.failed })'
    ]
  ],
  "src/polling/VideoVerdicts.ts": [
    [
      "a poll without an answer ends its task",
      "Effect.andThen(keepOpen(task, null, pauseSeconds(problem.retryAfterSeconds)))",
      `Effect.andThen(
        pauseSeconds(problem.retryAfterSeconds) > 0
          ? keepOpen(task, null)
          : release(task, "poll", {
              task: { from: "processing", state: "failed", ...taskLost },
              orphan: null
            })
      )`
    ],
    [
      "a video is charged its hold, whatever the vendor counted",
      "chargeNano: charge.chargeNano,\n      ...vendorAmounts(task, usage),",
      "chargeNano: task.quote.holdNano,\n      ...vendorAmounts(task, usage),"
    ],
    [
      "a task that is given up leaves no orphan",
      "orphan: { upstreamId: task.upstreamId, reason: failure.errorCode }",
      "orphan: null"
    ]
  ],
  "src/polling/TaskSettlement.ts": [
    [
      "a submit of a dead gateway ends without an orphan",
      'orphan: { upstreamId, reason: "gateway_stopped" }',
      "orphan: null"
    ],
    [
      "only a gateway that starts alone sweeps orders without a task",
      "yield* ledger.sweepExpiredHolds(scope)",
      'if (scope === "all") yield* ledger.sweepExpiredHolds(scope)'
    ]
  ],
  "src/polling/Poller.ts": [
    [
      "a gateway that starts alone leaves the orders from before open",
      "if (soleGateway) yield* settlement.recover",
      "if (soleGateway) yield* settlement.sweep"
    ]
  ],
  "src/postgres/tasks/taskClaims.ts": [
    [
      "a task whose gateway died in a poll is not polled again",
      `next_poll_at = now() + make_interval(secs => \${settings.leaseSeconds})\``,
      `next_poll_at = now() + make_interval(days => 365, secs => \${settings.leaseSeconds})\``
    ]
  ],
  "src/postgres/schema/tasks.sql": [
    [
      "a job with which a vendor answers two orders is charged to both",
      "are_taken[job.place] := FOUND;",
      "are_taken[job.place] := true;"
    ]
  ]
})

const webhooks = mutantsIn({
  "src/features/webhooks/webhooks.sql": [
    [
      "a percent of a budget is told again",
      "WHERE t > old.notified_threshold",
      "WHERE t >= old.notified_threshold"
    ],
    [
      "failed tasks are not reported",
      "AND (new.state <> 'rejected' OR new.id NOT LIKE 'vt\\_%'))",
      "AND new.state = 'succeeded')"
    ],
    [
      "refused videos are reported, of which clients know no task",
      "AND (new.state <> 'rejected' OR new.id NOT LIKE 'vt\\_%'))",
      "AND true)"
    ],
    [
      "an endpoint that fails twice is disabled",
      "WHEN endpoint.failing_since <= now() - p_patience THEN",
      "WHEN endpoint.failing_since <= now() THEN"
    ]
  ],
  "src/features/webhooks/WebhookDispatcher.ts": [
    [
      "each attempt has a message id of its own",
      "{ id: message.id, body },",
      `{ id: \`\${message.id}_\${message.tries}\`, body },`
    ],
    [
      "an error of the receiver counts as delivered",
      'if (status !== null && status >= 200 && status < 300) return { _tag: "Delivered" }',
      'if (status !== null && status >= 200 && status !== 410) return { _tag: "Delivered" }'
    ]
  ],
  "src/features/webhooks/WebhookMessagesPostgres.ts": [
    [
      "a message whose gateway died in an attempt is not sent again",
      `next_attempt_at = now() + make_interval(secs => \${leaseSeconds})`,
      `next_attempt_at = now() + make_interval(days => 365, secs => \${leaseSeconds})`
    ]
  ]
})

const idempotency = mutantsIn({
  "src/postgres/ledger/LedgerPostgres.ts": [
    [
      "a key is written after its hold",
      `request,
          keySeconds: settings.idempotencySeconds
        })
        .pipe(Effect.mapError(() => overloaded))`,
      `request: { ...request, key: null },
          keySeconds: settings.idempotencySeconds
        })
        .pipe(
          Effect.mapError(() => overloaded),
          Effect.tap(() =>
            request.key === null
              ? Effect.void
              : retryBriefly(sql\`
                  INSERT INTO idempotency_keys
                         (organization_id, key, fingerprint, order_id, expires_at)
                  VALUES (\${request.organizationId}, \${request.key.key},
                          \${request.key.fingerprint}, \${request.id},
                          now() + make_interval(secs => \${settings.idempotencySeconds}))
                  ON CONFLICT DO NOTHING\`)
          )
        )`
    ]
  ],
  "src/postgres/schema/moveFunds.sql": [
    [
      "a key whose request was answered meanwhile orders again",
      "(SELECT r.expires_at > now() FROM idempotency_keys r",
      "(SELECT r.expires_at > now() AND r.answer IS NULL FROM idempotency_keys r"
    ]
  ],
  "src/services/IdempotencyKeys.ts": [
    [
      "a key answers another request",
      "if (request.fingerprint !== key.fingerprint) {",
      "if (request.fingerprint.length !== key.fingerprint.length) {"
    ],
    [
      "a repeat of running images is answered as failed",
      "if (request.holdIsOpen) return yield* requestRunning",
      "if (request.holdIsOpen && taskState !== null) return yield* requestRunning"
    ]
  ],
  "src/orders/orderEnds.ts": [
    [
      "a key is freed though its job may exist",
      "const forgetKey = !isAnswered && orphan === null && error.status >= 500",
      "const forgetKey = !isAnswered && error.status >= 500"
    ],
    [
      "the answer to charged images is not stored",
      "call,\n      answer\n    })",
      "call,\n      answer: call === null ? answer : null\n    })"
    ]
  ]
})

const cancelling = mutantsIn({
  "src/polling/cancellations.ts": [
    [
      "a cancel that the vendor has only taken ends the task",
      "report(isRequested)\n    return yield* poll",
      'report(isRequested)\n    return "cancelled"'
    ],
    [
      "a cancel that the vendor refuses ends the task",
      "const status = yield* poll\n  report(",
      'const status = "cancelled"\n  report('
    ]
  ],
  "src/polling/ImageCancels.ts": [
    [
      "a cancel whose answer was lost ends a task of images",
      'if (Option.isSome(status) && status.value === "cancelled") yield* endCancelled(job)',
      'if (Option.isNone(status) || status.value === "cancelled") yield* endCancelled(job)'
    ],
    [
      "a cancel ends a task of images whose vendor is being called",
      "...cancelledBeforeCall, lease: 0n },",
      "...cancelledBeforeCall, lease: null },"
    ]
  ]
})

const queue = mutantsIn({
  "src/postgres/schema/queue.sql": [
    [
      "a full channel takes one order more",
      "p.channel_id = p_channel) >= p_max THEN\n    RETURN false;",
      "p.channel_id = p_channel) > p_max THEN\n    RETURN false;"
    ],
    [
      "a full channel takes one waiting order more",
      "p.channel_id = p_channel) >= p_max THEN\n      RETURN;",
      "p.channel_id = p_channel) > p_max THEN\n      RETURN;"
    ],
    [
      "an order takes its turn before its hold is written",
      "SELECT * FROM waiting_orders WHERE has_hold;",
      "SELECT * FROM waiting_orders;"
    ],
    [
      "an order leaves the queue as soon as a gateway claims it",
      "UPDATE waiting_orders r SET next_try_at = now() + make_interval(secs => p_lease)\n   WHERE",
      "DELETE FROM waiting_orders r\n   WHERE"
    ]
  ],
  "src/orders/video/queueDispatch.ts": [
    [
      "a waiting order that was submitted is submitted again",
      "if (!isStarted) return yield* queue.leave(orderId)\n",
      ""
    ],
    [
      "an order whose gateway died before it confirmed the hold is dropped",
      "queue.unconfirmed(SWEPT_SECONDS),\n    queue.confirmHold",
      "queue.unconfirmed(SWEPT_SECONDS),\n    queue.leave"
    ],
    [
      "a place is freed when the vendor has accepted",
      "if (failure === null) return yield* queue.leave(orderId)",
      "if (failure === null) return yield* Effect.andThen(queue.leave(orderId), queue.free(orderId))"
    ],
    [
      "places of tasks that have ended stay taken after a crash",
      "(orderId, { finished }) => (finished ? queue.free(orderId) : Effect.void)",
      "() => Effect.void"
    ],
    [
      "a place whose gateway died before the hold stays taken",
      "Effect.void),\n    queue.free\n",
      "Effect.void),\n    () => Effect.void\n"
    ]
  ],
  "src/domain/VendorOutcome.ts": [
    [
      "a waiting order is submitted again after a lost answer",
      'failure._tag === "VendorUnreachable" || passingRefusals.has(proofOf(failure))',
      'failure._tag !== "VendorRefused" || passingRefusals.has(proofOf(failure))'
    ]
  ],
  "src/orders/video/videoOrder.ts": [
    [
      "a waiting order that the vendor fails is not found any more",
      'state: hasWaited ? "failed" : "rejected"',
      'state: hasWaited && error.status < 500 ? "failed" : "rejected"'
    ]
  ],
  "src/polling/TaskSettlement.ts": [
    [
      "a waiting order whose gateway died in its submit is not found any more",
      'state: isQueued ? "failed" : "rejected"',
      'state: isQueued && upstreamId !== null ? "failed" : "rejected"'
    ]
  ]
})

const archive = mutantsIn({
  "src/features/archive/archive.sql": [
    [
      "files of a deleted task stay",
      "AND a.task_id = p_id AND a.state <> 'removing';",
      "AND false;"
    ],
    [
      "files are removed while they are still copied",
      "CASE WHEN a.state = 'waiting' THEN after_lease ELSE erased END",
      "erased"
    ]
  ],
  "src/features/archive/ArchivesPostgres.ts": [
    ["a copy that failed is not tried again", 'Again: "waiting"', 'Again: "failed"']
  ],
  "src/features/archive/ResultRemover.ts": [
    [
      "a removal is done before its files are removed",
      "bucket.removeAll(keyPrefixOf(organizationId, taskId)).pipe(\n          Effect.andThen(archives.completeRemoval(removal)),",
      "archives.completeRemoval(removal).pipe(\n          Effect.andThen(bucket.removeAll(keyPrefixOf(organizationId, taskId))),"
    ]
  ]
})

const changes = mutantsIn({
  "src/postgres/client/ChangesPostgres.ts": [
    [
      "a gateway with a silent wire goes on with what it knew",
      "const LEASE_MILLIS = 600",
      "const LEASE_MILLIS = 60_000"
    ],
    [
      "a gateway does not notice what another one changed",
      "invalidate(counts === null ? Topic.literals : changedTopics(counts, read))",
      "invalidate(counts === null ? Topic.literals : [])"
    ]
  ]
})

export const mistakes: ReadonlyArray<Mutant> = [
  ...orders,
  ...polling,
  ...webhooks,
  ...idempotency,
  ...cancelling,
  ...queue,
  ...archive,
  ...changes
]
