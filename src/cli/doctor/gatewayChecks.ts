/** Checks of a running gateway, if one runs: its readiness, channels, orphans and ledger. */
import { Effect, Schema } from "effect"
import { ReadinessReport } from "../../http/api/OperationsApi.ts"
import { deepestReason } from "../../runtime/deepestReason.ts"
import { gatewayErrorText } from "../failures.ts"
import { isFaulty } from "../remote/channels.ts"
import { asOperator, type Gateway, gatewayAddress, tokens } from "../remote/connection.ts"
import {
  type Check,
  errorFinding,
  type Finding,
  okFinding,
  unknownFinding,
  warningFinding
} from "./findings.ts"

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
    return [
      errorFinding(`${address}/readyz gives no report.`, "Is it a gateway that listens there?")
    ]
  }
  const failedChecks = Object.entries(report.value.checks).flatMap(([name, { status, detail }]) =>
    status === "failing"
      ? [
          errorFinding(
            `The gateway finds ${name} failing: ${detail ?? "without a word"}.`,
            "See its log."
          )
        ]
      : []
  )
  return failedChecks.length === 0
    ? [okFinding(`The gateway is ${report.value.status}.`)]
    : failedChecks
})

type GatewayCheck<E, R> = (gateway: Gateway) => Effect.Effect<ReadonlyArray<Finding>, E, R>

/**
 * Runs a check that needs an operator's token. Its finding is `unknown` where the gateway refuses
 * the token.
 */
const checkAsOperator = <E, R>(subject: string, check: GatewayCheck<E, R>) =>
  asOperator(({ gateway }) => check(gateway)).pipe(
    Effect.timeout("60 seconds"),
    Effect.catch((error) =>
      Effect.succeed([unknownFinding(`${subject} cannot be asked for: ${error.message}`)])
    )
  )

const channelFindings: GatewayCheck<unknown, never> = Effect.fnUntraced(function* (gateway) {
  const { data } = yield* gateway.channels.listChannels({ query: { limit: 100 } })
  const findings = yield* Effect.forEach(
    data,
    Effect.fnUntraced(function* ({ id, keys, model_rests, rest, slowed_organizations, state }) {
      const enabledKeys = keys.filter((key) => key.enabled)
      if (state === "draining") return [okFinding(`${id} is out of use.`)]
      if (!enabledKeys.some((key) => key.stored)) {
        return [
          errorFinding(`${id} has no key of its vendor.`, "Write its api_key in the catalog.")
        ]
      }
      const cooldowns = rest === null ? model_rests : [rest]
      const cooldownFindings = [
        ...cooldowns.map(({ model, reason, until }) =>
          warningFinding(
            `${id} cools down${model === null ? "" : ` for ${model}`} until ${until}: ${reason}.`,
            "Its vendor fails."
          )
        ),
        ...slowed_organizations.map(({ model, organization_id, until }) =>
          warningFinding(
            `${id} takes no orders of ${organization_id}${model === null ? "" : ` for ${model}`} until ${until}.`,
            "Its vendor fails the orders of this organisation."
          )
        )
      ]
      const tests = yield* Effect.result(gateway.channels.testChannel({ params: { id } }))
      if (tests._tag === "Failure") {
        const failureReason = gatewayErrorText(tests.failure) ?? deepestReason(tests.failure)
        return [...cooldownFindings, unknownFinding(`${id} cannot be tested: ${failureReason}`)]
      }
      const faultyEndpoints = tests.success.data.filter(isFaulty)
      return faultyEndpoints.length === 0
        ? [...cooldownFindings, okFinding(`${id} answers.`)]
        : faultyEndpoints.map(({ message }) =>
            errorFinding(
              `${id}: ${message.replace(/\.$/, "")}.`,
              "Check its base_url and api_key in the catalog, and the account at the vendor."
            )
          )
    }),
    { concurrency: 4 }
  )
  return data.length === 0
    ? [
        warningFinding(
          "The catalog has no channel.",
          "Apply one: media-gateway catalog apply FILE."
        )
      ]
    : findings.flat()
})

const orphanFindings: GatewayCheck<unknown, never> = (gateway) =>
  Effect.map(
    gateway.history.listOrphans({ query: { limit: 100, resolved: "false" } }),
    ({ data, has_more }) =>
      data.length === 0
        ? [okFinding("No job is left that a vendor may have made unpaid.")]
        : [
            warningFinding(
              `${data.length}${has_more ? " or more" : ""} jobs may have been made by their vendors and were not paid for.`,
              "See them: media-gateway orphan list."
            )
          ]
  )

const ledgerFindings: GatewayCheck<unknown, never> = (gateway) =>
  Effect.map(gateway.admin.verifyLedger(), ({ violations }) => {
    const [firstViolation] = violations
    return firstViolation === undefined
      ? [okFinding("The books are sound.")]
      : [
          errorFinding(
            `The books break ${violations.length} rules, first ${firstViolation.invariant} of ${firstViolation.organization_id}: ${firstViolation.detail}.`,
            "See them all: media-gateway verify. The organisations take no orders until they are sound."
          )
        ]
  })

const operatorFindings = Effect.gen(function* () {
  const { admin } = yield* tokens
  if (admin === null) {
    return [
      unknownFinding(
        "Channels, orphans and books are not looked at: GATEWAY_ADMIN_TOKEN is not set."
      )
    ]
  }
  const me = yield* checkAsOperator("The gateway", (gateway) =>
    Effect.map(gateway.operators.readMe(), ({ name, role }) => [
      okFinding(`The token is of ${name}, ${role}.`)
    ])
  )
  if (me.some(({ status }) => status === "unknown")) return me
  const findings = [
    checkAsOperator("The channels", channelFindings),
    checkAsOperator("The orphans", orphanFindings),
    checkAsOperator("The books", ledgerFindings)
  ]
  return [...me, ...(yield* Effect.all(findings)).flat()]
})

type Requirements =
  | Effect.Services<typeof gatewayAddress>
  | Effect.Services<typeof operatorFindings>

export const gatewayCheck: Check<Requirements> = {
  name: "Gateway",
  run: () =>
    Effect.gen(function* () {
      const address = yield* gatewayAddress
      const health = yield* get(`${address}/healthz`)
      if (health._tag === "Failure") {
        return [
          unknownFinding(`No gateway answers at ${address}: ${deepestReason(health.failure)}.`)
        ]
      }
      if (health.success.status !== 200) {
        return [
          errorFinding(`${address}/healthz answers ${health.success.status}.`, "Is it a gateway?")
        ]
      }
      return [
        okFinding(`A gateway answers at ${address}.`),
        ...(yield* readinessFindings(address)),
        ...(yield* operatorFindings)
      ]
    }).pipe(
      Effect.catch((error) =>
        Effect.succeed([errorFinding(`${error.message}.`, "Correct --gateway or GATEWAY_URL.")])
      )
    )
}
