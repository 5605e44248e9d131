/** Checks of a running gateway, if one runs: its readiness, channels, orphans and ledger. */
import { Effect, Schema } from "effect"
import { ReadinessReport } from "../../http/api/OperationsApi.ts"
import { deepestReason, gatewayErrorText } from "../failures.ts"
import { isFaulty } from "../remote/channels.ts"
import { asOperator, type Gateway, gatewayAddress, tokens } from "../remote/connection.ts"
import { type Check, type Finding, ok, unknown, warning, wrong } from "./findings.ts"

const get = (url: string) =>
  Effect.tryPromise((signal) =>
    fetch(url, { signal, headers: { connection: "close" } }).then((response) =>
      response.text().then((text) => ({ status: response.status, text }))
    )
  ).pipe(Effect.timeout("5 seconds"), Effect.result)

const decodeReadiness = Schema.decodeUnknownOption(Schema.fromJsonString(ReadinessReport))

const readinessFindings = Effect.fnUntraced(function* (address: string) {
  const answer = yield* get(`${address}/readyz`)
  const report = answer._tag === "Success" ? decodeReadiness(answer.success.text) : null
  if (report === null || report._tag === "None") {
    return [wrong(`${address}/readyz gives no report.`, "Is it a gateway that listens there?")]
  }
  const failing = Object.entries(report.value.checks).flatMap(([name, { status, detail }]) =>
    status === "failing"
      ? [wrong(`The gateway finds ${name} failing: ${detail ?? "without a word"}.`, "See its log.")]
      : []
  )
  return failing.length === 0 ? [ok(`The gateway is ${report.value.status}.`)] : failing
})

type Look<E, R> = (gateway: Gateway) => Effect.Effect<ReadonlyArray<Finding>, E, R>

/**
 * Runs a check that needs an operator's token. Its finding is `unknown` where the gateway refuses
 * the token.
 */
const askAsOperator = <E, R>(what: string, look: Look<E, R>) =>
  asOperator(({ gateway }) => look(gateway)).pipe(
    Effect.timeout("60 seconds"),
    Effect.catch((error) =>
      Effect.succeed([unknown(`${what} cannot be asked for: ${error.message}`)])
    )
  )

const channelFindings: Look<unknown, never> = Effect.fnUntraced(function* (gateway) {
  const { data } = yield* gateway.channels.listChannels({ query: { limit: 100 } })
  const findings = yield* Effect.forEach(
    data,
    Effect.fnUntraced(function* ({ id, keys, model_rests, rest, slowed_organizations, state }) {
      const enabled = keys.filter((key) => key.enabled)
      if (state === "draining") return [ok(`${id} is out of use.`)]
      if (!enabled.some((key) => key.stored)) {
        return [wrong(`${id} has no key of its vendor.`, "Write its api_key in the catalog.")]
      }
      const rests = rest === null ? model_rests : [rest]
      const resting = [
        ...rests.map(({ model, reason, until }) =>
          warning(
            `${id} cools down${model === null ? "" : ` for ${model}`} until ${until}: ${reason}.`,
            "Its vendor fails."
          )
        ),
        ...slowed_organizations.map(({ model, organization_id, until }) =>
          warning(
            `${id} takes no orders of ${organization_id}${model === null ? "" : ` for ${model}`} until ${until}.`,
            "Its vendor fails the orders of this organisation."
          )
        )
      ]
      const tests = yield* Effect.result(gateway.channels.testChannel({ params: { id } }))
      if (tests._tag === "Failure") {
        const why = gatewayErrorText(tests.failure) ?? deepestReason(tests.failure)
        return [...resting, unknown(`${id} cannot be tested: ${why}`)]
      }
      const faulty = tests.success.data.filter(isFaulty)
      return faulty.length === 0
        ? [...resting, ok(`${id} answers.`)]
        : faulty.map(({ message }) =>
            wrong(
              `${id}: ${message.replace(/\.$/, "")}.`,
              "Check its base_url and api_key in the catalog, and the account at the vendor."
            )
          )
    }),
    { concurrency: 4 }
  )
  return data.length === 0
    ? [warning("The catalog has no channel.", "Apply one: media-gateway catalog apply FILE.")]
    : findings.flat()
})

const orphanFindings: Look<unknown, never> = (gateway) =>
  Effect.map(
    gateway.history.listOrphans({ query: { limit: 100, resolved: "false" } }),
    ({ data, has_more }) =>
      data.length === 0
        ? [ok("No job is left that a vendor may have made unpaid.")]
        : [
            warning(
              `${data.length}${has_more ? " or more" : ""} jobs may have been made by their vendors and were not paid for.`,
              "See them: media-gateway orphan list."
            )
          ]
  )

const ledgerFindings: Look<unknown, never> = (gateway) =>
  Effect.map(gateway.admin.verifyLedger(), ({ violations }) => {
    const [first] = violations
    return first === undefined
      ? [ok("The books are sound.")]
      : [
          wrong(
            `The books break ${violations.length} rules, first ${first.invariant} of ${first.organization_id}: ${first.detail}.`,
            "See them all: media-gateway verify. The organisations take no orders until they are sound."
          )
        ]
  })

const operatorFindings = Effect.gen(function* () {
  const { admin } = yield* tokens
  if (admin === null) {
    return [
      unknown("Channels, orphans and books are not looked at: GATEWAY_ADMIN_TOKEN is not set.")
    ]
  }
  const me = yield* askAsOperator("The gateway", (gateway) =>
    Effect.map(gateway.operators.readMe(), ({ name, role }) => [
      ok(`The token is of ${name}, ${role}.`)
    ])
  )
  if (me.some(({ status }) => status === "unknown")) return me
  const findings = [
    askAsOperator("The channels", channelFindings),
    askAsOperator("The orphans", orphanFindings),
    askAsOperator("The books", ledgerFindings)
  ]
  return [...me, ...(yield* Effect.all(findings)).flat()]
})

type Needs = Effect.Services<typeof gatewayAddress> | Effect.Services<typeof operatorFindings>

export const gatewayCheck: Check<Needs> = {
  name: "Gateway",
  look: () =>
    Effect.gen(function* () {
      const address = yield* gatewayAddress
      const health = yield* get(`${address}/healthz`)
      if (health._tag === "Failure") {
        return [unknown(`No gateway answers at ${address}: ${deepestReason(health.failure)}.`)]
      }
      if (health.success.status !== 200) {
        return [wrong(`${address}/healthz answers ${health.success.status}.`, "Is it a gateway?")]
      }
      return [
        ok(`A gateway answers at ${address}.`),
        ...(yield* readinessFindings(address)),
        ...(yield* operatorFindings)
      ]
    }).pipe(
      Effect.catch((error) =>
        Effect.succeed([wrong(`${error.message}.`, "Correct --gateway or GATEWAY_URL.")])
      )
    )
}
