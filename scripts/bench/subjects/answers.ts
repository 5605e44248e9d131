/** Waits until a process that has just been started responds. */
import { request } from "node:http"
import { Effect } from "effect"
import type { TestProcess } from "../../../test/support/processes.ts"
import type { LoadRequest } from "../measure/load.ts"

/** The polling interval, shorter than the differences between cold starts. */
const LOOK_AGAIN = "2 millis"
const PATIENCE = "60 seconds"

/**
 * Whether a request is answered with 200. Uses no connection pool, which would have to be warmed up
 * first.
 */
const isWell = (url: string, call: Partial<LoadRequest>): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const sent = request(
      url,
      { method: call.method ?? "GET", headers: call.headers ?? {}, agent: false },
      (answer) => {
        answer.resume()
        answer.on("end", () => resume(Effect.succeed(answer.statusCode === 200)))
        answer.on("error", () => resume(Effect.succeed(false)))
      }
    )
    sent.on("error", () => resume(Effect.succeed(false)))
    sent.end(call.body ?? undefined)
  })

/** Polls until the response is 200. After a time-out, dies with the output of the process. */
export const answersWell = (
  process: TestProcess,
  url: string,
  call: Partial<LoadRequest> = {}
): Effect.Effect<void> =>
  Effect.sleep(LOOK_AGAIN).pipe(
    Effect.andThen(isWell(url, call)),
    Effect.repeat({ until: (well) => well }),
    Effect.timeoutOrElse({
      duration: PATIENCE,
      orElse: () =>
        Effect.die(new Error(`${url} does not answer\n${process.stdout()}\n${process.stderr()}`))
    }),
    Effect.asVoid
  )
