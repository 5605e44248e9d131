/** Commands that work on the database directly: schema migration and the audit of the ledger. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Distribution, layerDistribution } from "../../postgres/citus/Distribution.ts"
import { distributeSchema } from "../../postgres/citus/distributeSchema.ts"
import { makeAudit } from "../../postgres/ledger/ledgerAudit.ts"
import { applySchema } from "../../postgres/schema/applySchema.ts"
import { Migrations } from "../../postgres/schema/migrations.ts"
import { reasonOf } from "../../run.ts"
import { CommandFailure, ExitWith } from "../failures.ts"
import { printResult, table } from "../output.ts"
import { asOperator } from "../remote/connection.ts"
import { onDatabase } from "./database.ts"

const migrate = Command.make(
  "migrate",
  {
    citus: Flag.Boolean("citus").pipe(
      Flag.withDescription("Then distribute the tables over the nodes of a Citus cluster"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("cli.migrate")(function* ({ citus }) {
    const migrations = yield* onDatabase(() =>
      Effect.tap(applySchema, citus ? distributeSchema : Effect.void)
    ).pipe(
      Effect.mapError(
        (error) => new CommandFailure({ message: `The schema was not applied: ${reasonOf(error)}` })
      )
    )
    const { length: latest } = yield* Migrations
    const document = {
      latest,
      applied: migrations.map(([id, name]) => ({ id, name }))
    }
    yield* printResult(document, () =>
      [
        ...(migrations.length === 0
          ? [`The database has every migration up to ${latest}: nothing was to do.`]
          : migrations.map(([id, name]) => `Applied migration ${id} (${name}).`)),
        ...(citus ? ["Its tables are distributed."] : [])
      ].join("\n")
    )
  })
).pipe(
  Command.withDescription(
    "Bring the database of DATABASE_URL or DATA_DIR up to this version's schema"
  )
)

/** The violations in the database, with the field names of the admin API. */
const violationsInDatabase = onDatabase((config) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { isDistributed } = yield* Distribution
    const { verify } = makeAudit(sql, {
      keySeconds: config.settings.idempotencySeconds,
      isDistributed
    })
    return (yield* verify).map(({ organizationId, ...violation }) => ({
      ...violation,
      organization_id: organizationId
    }))
  }).pipe(Effect.provide(layerDistribution))
).pipe(
  Effect.mapError(
    (error) => new CommandFailure({ message: `The books cannot be read: ${reasonOf(error)}` })
  )
)

const violationsAtGateway = asOperator(({ gateway }) =>
  Effect.map(gateway.admin.verifyLedger(), ({ violations }) => violations)
)

const verify = Command.make(
  "verify",
  {
    database: Flag.Boolean("database").pipe(
      Flag.withDescription("Read the database of DATABASE_URL or DATA_DIR, instead of a gateway"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("cli.verify")(function* ({ database }) {
    const violations = yield* database ? violationsInDatabase : violationsAtGateway
    yield* printResult({ ok: violations.length === 0, violations }, () =>
      violations.length === 0
        ? "The books are sound."
        : table(
            ["invariant", "organization", "subject", "detail"],
            violations.map((one) => [one.invariant, one.organization_id, one.subject, one.detail])
          )
    )
    if (violations.length > 0) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription("Recompute every rule of the books; ends with 1 where one does not hold")
)

export const databaseCommands = [migrate, verify] as const
