/** The gateway as a process that prints all it can tell: every log, every trace, every metric. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Metric, References, Tracer } from "effect"
import { HttpServer } from "effect/http"
import { loadConfig } from "../../src/config.ts"
import { layerGateway } from "../../src/program.ts"
import { loadSecrets } from "../../src/secrets.ts"

/** Prints a span with all that an exporter would send of it. */
class PrintedSpan extends Tracer.NativeSpan {
  override end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    super.end(endTime, exit)
    console.log("SPAN", this.name, JSON.stringify([...this.attributes, ...this.events], printable))
    if (Exit.isFailure(exit)) {
      for (const error of Cause.prettyErrors(exit.cause)) {
        console.log("SPAN ERROR", this.name, error.name, error.message, error.stack)
      }
    }
  }
}

const printable = (_: string, value: unknown) =>
  typeof value === "bigint" ? value.toString() : value

const layerLoud = Layer.mergeAll(
  Layer.succeed(References.MinimumLogLevel, "All"),
  Layer.succeed(Tracer.Tracer, { span: (options) => new PrintedSpan(options) })
)

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  return yield* Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    yield* Console.log(`listens on ${HttpServer.formatAddress(address)}`)
    return yield* Effect.never
  }).pipe(Effect.provide(layerGateway(config, secrets)))
}).pipe(
  Effect.ensuring(Effect.flatMap(Metric.dump, (metrics) => Console.log("METRICS", metrics))),
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom, layerLoud])
)

NodeRuntime.runMain(program)
