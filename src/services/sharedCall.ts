/** One call that asks about many jobs, told in the history of each of them. */
import { Effect } from "effect"
import type { CallLogShape, CallReport, CallSubject } from "./CallLog.ts"
import { recordingCalls } from "./CallLog.ts"

/**
 * Records the calls within the effect for every subject. `wordOf` is what the call told about one of
 * them: the others' part of the answer is none of its history, and must not make it look changed.
 */
export const recordingShared = <A, E, R>(
  log: CallLogShape,
  subjects: ReadonlyArray<CallSubject>,
  call: Effect.Effect<A, E, R>,
  wordOf: (answer: A, subject: CallSubject) => string
): Effect.Effect<A, E, R> => {
  const reports: Array<CallReport> = []
  const collecting: CallLogShape = {
    record: (_, report) =>
      Effect.sync(() => {
        reports.push(report)
      }),
    flush: Effect.void,
    prune: Effect.succeed(0)
  }
  const recordAll = (word: ((subject: CallSubject) => string) | null) =>
    Effect.forEach(
      reports,
      (report) =>
        Effect.flatMap(Effect.cached(report.describe), (described) =>
          Effect.forEach(
            subjects,
            (subject) =>
              log.record(subject, {
                weight: Math.ceil(report.weight / subjects.length),
                describe:
                  word === null
                    ? described
                    : Effect.map(described, (call) => ({
                        ...call,
                        answer: { about: subjects.length, this_task: word(subject) },
                        outcome: word(subject)
                      }))
              }),
            { discard: true }
          )
        ),
      { discard: true }
    )
  const [first] = subjects
  return first === undefined
    ? call
    : recordingCalls(
        collecting,
        first
      )(call).pipe(
        Effect.tap((answer) => recordAll((subject) => wordOf(answer, subject))),
        Effect.tapError(() => recordAll(null))
      )
}
