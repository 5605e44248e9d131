/** Waiting for a process that has just been started. */
import { request } from "node:http"
import { Effect } from "effect"
import type { TestProcess } from "../../../test/support/processes.ts"
import type { LoadRequest } from "../measure/load.ts"

/** Finer than the differences between cold starts. */
const LOOK_AGAIN = "2 millis"
const PATIENCE = "60 seconds"

/** Without a pool of connections, which would first have to be warm. */
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

/** Asks until it is answered 200; dies with what the process printed when that takes too long. */
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
