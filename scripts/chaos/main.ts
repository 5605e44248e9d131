/**
 * The chaos test: runs real gateways, a real PostgreSQL and the vendor simulator under load, kills
 * them and cuts their connections by a schedule that a seed reproduces, and compares the ledger
 * with what clients and vendors recorded. Exits with 1 when an invariant is violated.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option, Random, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { version } from "../../src/version.ts"
import { type ChaosOptions, commandOf, defaultOptions } from "./options.ts"
import { renderReport } from "./report.ts"
import { quietSeconds, runChaos } from "./run.ts"

class InvariantsViolated extends Schema.TaggedError<InvariantsViolated>()("InvariantsViolated", {
  violations: Schema.Int
}) {}

const { rates, pace } = defaultOptions

const number = (name: string, fallback: number, description: string) =>
  Flag.Finite(name).pipe(Flag.withDefault(fallback), Flag.withDescription(description))
const whole = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(Flag.withDefault(fallback), Flag.withDescription(description))

const flags = {
  seed: Flag.String("seed").pipe(Flag.optional, Flag.withDescription("Repeats a schedule")),
  minutes: number("minutes", defaultOptions.minutes, "How long orders and disasters last"),
  gateways: whole("gateways", defaultOptions.gateways, "Gateway processes"),
  clients: whole("clients", defaultOptions.clients, "Clients that order at the same time"),
  kills: number("kills-per-minute", rates.kills, "SIGKILL to a gateway"),
  stops: number("stops-per-minute", rates.stops, "SIGTERM to a gateway"),
  pauses: number("pauses-per-minute", rates.pauses, "SIGSTOP to a gateway past its lease"),
  postgresKills: number("postgres-kills-per-minute", rates.postgresKills, "SIGKILL to PostgreSQL"),
  terminations: number("terminations-per-minute", rates.terminations, "Backends terminated"),
  cuts: number("cuts-per-minute", rates.cuts, "Connections to PostgreSQL cut or silenced"),
  lease: number("lease-seconds", pace.lease, "How long a claimed task belongs to its gateway"),
  submitDeadline: number(
    "submit-deadline-seconds",
    pace.submitDeadline,
    "For an unanswered submit"
  ),
  imageDeadline: number(
    "image-deadline-seconds",
    pace.imageDeadline,
    "For an unanswered image or text"
  ),
  taskDeadline: number("task-deadline-seconds", pace.taskDeadline, "For a task"),
  unknownGrace: number(
    "unknown-grace-seconds",
    pace.unknownGrace,
    "For a task unknown to its vendor"
  ),
  idempotency: Flag.Boolean("idempotency").pipe(
    Flag.withDefault(defaultOptions.idempotency),
    Flag.withDescription("One Idempotency-Key must be at most one job")
  ),
  citus: Flag.String("citus").pipe(
    Flag.optional,
    Flag.withDescription("Program that makes a Citus cluster, to run on instead of one PostgreSQL")
  ),
  logs: Flag.String("logs").pipe(Flag.optional, Flag.withDescription("Directory for the logs"))
}

const chaos = Command.make(
  "chaos",
  flags,
  Effect.fn(function* (given) {
    const drawn = yield* Random.nextIntBetween(1, 1_000_000_000)
    const options: ChaosOptions = {
      seed: Option.getOrElse(given.seed, () => String(drawn)),
      minutes: given.minutes,
      gateways: given.gateways,
      clients: given.clients,
      rates: {
        kills: given.kills,
        stops: given.stops,
        pauses: given.pauses,
        postgresKills: given.postgresKills,
        terminations: given.terminations,
        cuts: given.cuts
      },
      pace: {
        lease: given.lease,
        submitDeadline: given.submitDeadline,
        imageDeadline: given.imageDeadline,
        taskDeadline: given.taskDeadline,
        unknownGrace: given.unknownGrace
      },
      idempotency: given.idempotency,
      recoverySeconds: defaultOptions.recoverySeconds,
      citus: Option.getOrNull(given.citus),
      logs: Option.getOrNull(given.logs)
    }
    yield* Console.log(
      `seed ${options.seed} (again: ${commandOf(options)})\n` +
        `${options.minutes} min of orders and disasters, then up to ${quietSeconds(options)} s until all is settled`
    )
    const report = yield* runChaos(options)
    yield* Console.log(renderReport(report))
    if (report.violations.length > 0) {
      return yield* new InvariantsViolated({ violations: report.violations.length })
    }
  })
).pipe(Command.withDescription("Kills gateways and database under load, and checks the books"))

chaos.pipe(Command.run({ version }), Effect.provide(NodeServices.layer), (program) =>
  NodeRuntime.runMain(program, { disableErrorReporting: true })
)
