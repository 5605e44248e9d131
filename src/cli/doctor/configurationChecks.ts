/** Checks of the Node.js version and of the environment variables. */
import { Cause, ConfigProvider, Effect, Exit, Redacted, Result } from "effect"
import { Base64 } from "effect/encoding"
import { type GatewayConfig, loadConfig } from "../../config.ts"
import { nearestName } from "../../domain/nearest.ts"
import { MIN_VERSION, tooOldMessage } from "../../nodeVersion.ts"
import { deepestReason } from "../../runtime/deepestReason.ts"
import { MASTER_KEY_BYTES } from "../../services/Vault.ts"
import { type Check, errorFinding, type Finding, okFinding, warningFinding } from "./findings.ts"

export const nodeCheck: Check = {
  name: "Node.js",
  run: () => {
    const reason = tooOldMessage(process.versions.node)
    return Effect.succeed([
      reason === null
        ? okFinding(`Node.js ${process.versions.node} is new enough.`)
        : errorFinding(`${reason}.`, `Install Node.js ${MIN_VERSION.join(".")} or newer.`)
    ])
  }
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Loads the configuration from these variables alone; `onRead` is called with the name of each
 * variable that is read.
 */
const load = (
  variables: Variables,
  onRead: (name: string) => void = () => undefined
): Exit.Exit<GatewayConfig, Error> =>
  Effect.runSyncExit(
    Effect.provideService(
      loadConfig,
      ConfigProvider.ConfigProvider,
      ConfigProvider.make((path) =>
        Effect.sync(() => {
          const name = path.join("_")
          onRead(name)
          const value = variables[name]
          return value === undefined ? undefined : ConfigProvider.makeValue(value)
        })
      )
    )
  )

const gatewayVariables = (): ReadonlySet<string> => {
  const names = new Set<string>()
  load({}, (name) => names.add(name))
  names.delete("")
  return names
}

/**
 * `GATEWAY_` variables that the gateway itself does not read: commands and other tools read them.
 */
const othersVariables = ["GATEWAY_KEY", "GATEWAY_URL"]

/** The variables that do not decode, each with a sentence that names it and says why. */
const faultsOf = (environment: Variables): ReadonlyMap<string, string> =>
  new Map(
    [...gatewayVariables()].flatMap((name) => {
      const value = environment[name]
      const exit = value === undefined ? null : load({ [name]: value })
      return exit === null || Exit.isSuccess(exit)
        ? []
        : [[name, deepestReason(Cause.squash(exit.cause))]]
    })
  )

/**
 * The configuration from the variables that decode, without the faulty ones; null where the rest is
 * not a valid configuration.
 */
export const configOf = (environment: Variables): GatewayConfig | null => {
  const faults = faultsOf(environment)
  const exit = load(
    Object.fromEntries(Object.entries(environment).filter(([name]) => !faults.has(name)))
  )
  return Exit.isSuccess(exit) ? exit.value : null
}

const PREFIX = "GATEWAY_"
const bare = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)

/** The known variable whose name is nearest to an unknown one, compared without the prefix. */
const nearestVariable = (name: string, variableNames: ReadonlyArray<string>): string | null => {
  const nearest = nearestName(bare(name), variableNames.map(bare))
  return variableNames.find((candidate) => bare(candidate) === nearest) ?? null
}

export const variablesCheck: Check = {
  name: "Configuration",
  run: ({ environment }) =>
    Effect.sync(() => {
      const variableNames = gatewayVariables()
      const faults: ReadonlyArray<Finding> = [...faultsOf(environment)].map(([name, fault]) =>
        errorFinding(`${fault}.`, `Correct ${name}, or unset it.`)
      )
      const all = [...variableNames, ...othersVariables]
      const unknownVariables: ReadonlyArray<Finding> = Object.keys(environment)
        .filter((name) => name.startsWith(PREFIX) && !all.includes(name))
        .map((name) => {
          const nearest = nearestVariable(name, all)
          return nearest === null
            ? warningFinding(`${name} is set, and nothing reads it.`, "Unset it.")
            : errorFinding(`${name} is set, and nothing reads it.`, `Was ${nearest} meant?`)
        })
      const findings = [...faults, ...unknownVariables]
      return findings.length === 0
        ? [okFinding("Every variable that is set can be used.")]
        : findings
    })
}

const isMasterKey = (text: string): boolean => {
  const bytes = Base64.decode(text)
  return Result.isSuccess(bytes) && bytes.success.length === MASTER_KEY_BYTES
}

const MAKE_KEY = `openssl rand -base64 ${MASTER_KEY_BYTES} makes one.`

/**
 * Checks the secrets in environment variables. Secrets stored in `DATA_DIR` are checked by
 * `dataDirectoryCheck`.
 */
export const secretsCheck: Check = {
  name: "Secrets",
  run: ({ config }) =>
    Effect.sync(() => {
      if (config === null) return []
      const keys = [
        ["GATEWAY_MASTER_KEY", config.masterKey],
        ["GATEWAY_MASTER_KEY_PREVIOUS", config.previousMasterKey]
      ] as const
      const findings: Array<Finding> = keys.flatMap(([name, key]) =>
        key === null || isMasterKey(Redacted.value(key))
          ? []
          : [errorFinding(`${name} is not ${MASTER_KEY_BYTES} bytes in base64.`, MAKE_KEY)]
      )
      const isServer = config.databaseUrl !== null
      if (isServer && config.masterKey === null) {
        findings.push(errorFinding("DATABASE_URL is set, and GATEWAY_MASTER_KEY is not.", MAKE_KEY))
      }
      if (isServer && config.adminToken === null) {
        findings.push(
          warningFinding(
            "GATEWAY_ADMIN_TOKEN is not set, so that only operators with tokens of their own are let in.",
            "Set it until there is such an operator."
          )
        )
      }
      return findings.length === 0
        ? [okFinding("The secrets that are given have the right form.")]
        : findings
    })
}
