/** All environment variables that the gateway reads; each is named once. */
import { Config, DateTime, Effect, Option, Record, Redacted, Schema, SchemaIssue } from "effect"
import {
  Issuer,
  OrganizationRules,
  organizationRulesOf,
  RoleRules,
  roleRulesOf,
  Scopes
} from "./features/signIn/SignInConfig.ts"
import type { Rule } from "./features/signIn/signInRules.ts"
import { type TelemetryConfig, telemetryConfig } from "./operations/telemetryConfig.ts"
import { defaultSettings, type Settings } from "./runtime/Settings.ts"
import { asksForPrimary, serverUrls } from "./runtime/serverUrls.ts"
import type { Role } from "./services/operators/Operators.ts"

const positive = Schema.NumberFromString.check(
  Schema.isFinite(),
  Schema.isGreaterThan(0, { expected: "a number greater than 0" })
)
const notNegative = Schema.NumberFromString.check(
  Schema.isFinite(),
  Schema.isGreaterThanOrEqualTo(0, { expected: "a number of 0 or more" })
)
const positiveWhole = positive.check(Schema.isInt())
/** A whole number that is a limit; 0 means no limit. */
const wholeOrAny = notNegative.check(Schema.isInt())

/**
 * The name of a time zone. Offsets such as `+08:00` are refused, because PostgreSQL reads them with
 * the opposite sign.
 */
const TimeZone = Schema.String.check(
  Schema.makeFilter((name) => !/^[+-]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name)), {
    expected: "an IANA time zone such as Asia/Shanghai"
  })
)

const archivePlace = (text: string) => {
  const url = URL.parse(text)
  const endpoint = url?.searchParams.get("endpoint") ?? null
  const path = (url?.pathname ?? "").replace(/^\/+|\/+$/g, "")
  return url === null || url.protocol !== "s3:" || url.hostname === ""
    ? null
    : {
        bucket: url.hostname,
        /** The prefix of all keys; empty, or with a slash at the end. */
        prefix: path === "" ? "" : `${path}/`,
        /** The S3 endpoint; null for AWS. */
        endpoint,
        region: url.searchParams.get("region") ?? "us-east-1"
      }
}

const isHttp = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

/** `s3://bucket/prefix?endpoint=...&region=...`; an empty text counts as absent. */
const ArchiveUrl = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const place = archivePlace(text)
      return text === "" || (place !== null && (place.endpoint === null || isHttp(place.endpoint)))
    },
    { expected: "s3://bucket/prefix?endpoint=https://...&region=..." }
  )
)

const PublicUrl = Schema.String.check(
  Schema.makeFilter((text) => text === "" || isHttp(text), {
    expected: "an address such as https://media.example.com"
  })
)

/**
 * Whether a text is an origin as browsers send it: without a path and a default port, and with a
 * whole host.
 */
const isOrigin = (text: string): boolean =>
  !text.includes("*") &&
  (isHttp(text) ? URL.parse(text)?.origin === text : /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(text))

/** Origins, with commas in between; an empty text names none. */
const Origins = Schema.String.check(
  Schema.makeFilter(
    (text) => originsOf(text).every((origin) => origin === "*" || isOrigin(origin)),
    { expected: "* or origins such as https://app.example.com,http://localhost:5173" }
  )
)

const originsOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((origin) => origin.trim())
    .filter((origin) => origin !== "")

/** The schemes that the database client takes; an empty text counts as absent. */
const DatabaseUrl = Schema.String.check(
  Schema.makeFilter((text) => text === "" || serverUrls(text).length > 0, {
    expected: "an address such as postgres://user:password@host:5432/database"
  }),
  Schema.makeFilter(asksForPrimary, {
    expected: "target_session_attrs=read-write where the address names several servers"
  })
)

/**
 * The environment variables of times and limits, by the name of their setting. Each default is
 * suited to production.
 */
const numbers = Record.map(
  {
    submitDeadlineSeconds: ["GATEWAY_SUBMIT_DEADLINE_SECONDS", positive],
    imageDeadlineSeconds: ["GATEWAY_IMAGE_DEADLINE_SECONDS", positive],
    textDeadlineSeconds: ["GATEWAY_TEXT_DEADLINE_SECONDS", positive],
    textTokensPerHour: ["GATEWAY_TEXT_TOKENS_PER_HOUR", positiveWhole],
    textStreamDeadlineSeconds: ["GATEWAY_TEXT_STREAM_DEADLINE_SECONDS", positive],
    taskDeadlineSeconds: ["GATEWAY_TASK_DEADLINE_SECONDS", positive],
    unknownGraceSeconds: ["GATEWAY_UNKNOWN_GRACE_SECONDS", positive],
    askIntervalSeconds: ["GATEWAY_ASK_INTERVAL_SECONDS", positive],
    leaseSeconds: ["GATEWAY_LEASE_SECONDS", positive],
    idempotencySeconds: ["GATEWAY_IDEMPOTENCY_SECONDS", positive],
    pollerSeconds: ["GATEWAY_POLLER_SECONDS", positive],
    pollsPerChannel: ["GATEWAY_POLLS_PER_CHANNEL", positiveWhole],
    callLogDays: ["GATEWAY_CALL_LOG_DAYS", positive],
    auditSeconds: ["GATEWAY_AUDIT_SECONDS", positive],
    sealSeconds: ["GATEWAY_SEAL_SECONDS", positive],
    drainSeconds: ["GATEWAY_DRAIN_SECONDS", notNegative],
    shutdownSeconds: ["GATEWAY_SHUTDOWN_SECONDS", positive],
    keyRequestsPerMinute: ["GATEWAY_KEY_REQUESTS_PER_MINUTE", wholeOrAny],
    keyQuotesPerMinute: ["GATEWAY_KEY_QUOTES_PER_MINUTE", wholeOrAny],
    keyModelsPerMinute: ["GATEWAY_KEY_MODELS_PER_MINUTE", wholeOrAny],
    keyUploadsPerMinute: ["GATEWAY_KEY_UPLOADS_PER_MINUTE", wholeOrAny],
    keyRefusalsPerMinute: ["GATEWAY_KEY_REFUSALS_PER_MINUTE", wholeOrAny],
    addressUnknownKeysPerMinute: ["GATEWAY_ADDRESS_UNKNOWN_KEYS_PER_MINUTE", wholeOrAny],
    organizationInFlight: ["GATEWAY_ORGANIZATION_IN_FLIGHT", positiveWhole],
    organizationWaits: ["GATEWAY_ORGANIZATION_WAITS", positiveWhole],
    organizationLists: ["GATEWAY_ORGANIZATION_LISTS", positiveWhole],
    organizationListQueue: ["GATEWAY_ORGANIZATION_LIST_QUEUE", positiveWhole],
    channelInFlight: ["GATEWAY_CHANNEL_IN_FLIGHT", positiveWhole],
    breakerCalls: ["GATEWAY_BREAKER_CALLS", positiveWhole],
    channelCooldownSeconds: ["GATEWAY_CHANNEL_REST_SECONDS", positive],
    keyCooldownSeconds: ["GATEWAY_KEY_REST_SECONDS", positive],
    maxCooldownSeconds: ["GATEWAY_LONGEST_REST_SECONDS", positive],
    bodyBudgetBytes: ["GATEWAY_BODY_BUDGET_BYTES", positiveWhole],
    answerBudgetBytes: ["GATEWAY_ANSWER_BUDGET_BYTES", positiveWhole],
    answerStallSeconds: ["GATEWAY_ANSWER_STALL_SECONDS", positive],
    maxConnections: ["GATEWAY_MAX_CONNECTIONS", positiveWhole],
    headSeconds: ["GATEWAY_HEAD_SECONDS", positive],
    requestSeconds: ["GATEWAY_REQUEST_SECONDS", positive],
    archiveDays: ["GATEWAY_ARCHIVE_DAYS", wholeOrAny],
    maxContentBytes: ["GATEWAY_MAX_CONTENT_BYTES", positiveWhole],
    maxFileBytes: ["GATEWAY_MAX_FILE_BYTES", positiveWhole],
    fileHours: ["GATEWAY_FILE_HOURS", positive],
    responseHours: ["GATEWAY_RESPONSE_HOURS", positive],
    organizationFileBytes: ["GATEWAY_ORGANIZATION_FILE_BYTES", positiveWhole],
    organizationFiles: ["GATEWAY_ORGANIZATION_FILES", positiveWhole],
    maxMediaBodyBytes: ["GATEWAY_MAX_BODY_BYTES", positiveWhole],
    maxAnswerBytes: ["GATEWAY_MAX_ANSWER_BYTES", positiveWhole],
    maxListBytes: ["GATEWAY_MAX_LIST_BYTES", positiveWhole],
    sessionIdleSeconds: ["GATEWAY_SESSION_IDLE_SECONDS", positive],
    sessionSeconds: ["GATEWAY_SESSION_SECONDS", positive]
  } as const,
  ([name, schema], field) =>
    Config.schema(schema, name).pipe(Config.withDefault(defaultSettings[field]))
)

/**
 * Maximum number of concurrent list queries. Where the variable is empty, the number is derived
 * from the size of the connection pool.
 */
const listsInFlight = Config.schema(
  Schema.Union([Schema.Literal(""), positiveWhole]),
  "GATEWAY_LISTS_IN_FLIGHT"
).pipe(Config.withDefault(""))

/**
 * The share of the connection pool that list queries may use. It is not used with the embedded
 * database, which has one connection.
 */
const SHARE_OF_LISTS = 0.25

const settings = Config.all({
  currency: Config.String("GATEWAY_CURRENCY").pipe(Config.withDefault(defaultSettings.currency)),
  timeZone: Config.schema(TimeZone, "GATEWAY_TIME_ZONE").pipe(
    Config.withDefault(defaultSettings.timeZone)
  ),
  addressConnections: Config.schema(wholeOrAny, "GATEWAY_ADDRESS_CONNECTIONS").pipe(
    Config.withDefault(null)
  ),
  corsOrigins: Config.schema(Origins, "GATEWAY_CORS_ORIGINS").pipe(
    Config.withDefault(""),
    Config.map(originsOf)
  ),
  watermark: Config.Boolean("GATEWAY_WATERMARK").pipe(
    Config.withDefault(defaultSettings.watermark)
  ),
  ...numbers
})

/**
 * The share of all connections that one client address may use. The remaining connections are left
 * for other addresses.
 */
const SHARE_OF_ADDRESS = 0.25

/** A port; 0 takes a free one, which is printed at the start. */
const Port = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: 65_535 })
)

const port = (name: string, fallback: number) =>
  Config.schema(Port, name).pipe(Config.withDefault(fallback))

const metricsPort = Config.schema(
  Schema.Union([Schema.Literal(""), Port]),
  "GATEWAY_METRICS_PORT"
).pipe(
  Config.withDefault(""),
  Config.map((value) => (value === "" ? null : value))
)

/** An empty variable counts as absent, as it does in shells and compose files. */
const secret = (name: string, schema: Schema.Codec<string, string> = Schema.String) =>
  Config.schema(schema, name).pipe(
    Config.withDefault(""),
    Config.map((value) => (value === "" ? null : Redacted.make(value)))
  )

const gatewayConfig = Config.all({
  host: Config.String("HOST").pipe(Config.withDefault("127.0.0.1")),
  port: port("PORT", 8080),
  reusePort: Config.Boolean("GATEWAY_REUSE_PORT").pipe(Config.withDefault(false)),
  metricsPort,
  databaseUrl: secret("DATABASE_URL", DatabaseUrl),
  databasePool: Config.Int("DATABASE_POOL").pipe(Config.withDefault(16)),
  migrate: Config.Boolean("GATEWAY_MIGRATE").pipe(Config.withDefault(true)),
  dataDir: Config.String("DATA_DIR").pipe(Config.withDefault(".data")),
  masterKey: secret("GATEWAY_MASTER_KEY"),
  previousMasterKey: secret("GATEWAY_MASTER_KEY_PREVIOUS"),
  adminToken: secret("GATEWAY_ADMIN_TOKEN"),
  demo: Config.Boolean("GATEWAY_DEMO").pipe(Config.withDefault(false)),
  simulatorPort: port("GATEWAY_SIMULATOR_PORT", 8081),
  publicUrl: Config.schema(PublicUrl, "GATEWAY_PUBLIC_URL").pipe(
    Config.withDefault(""),
    Config.map((url) => url.replace(/\/+$/, ""))
  ),
  archive: Config.schema(ArchiveUrl, "GATEWAY_ARCHIVE_URL").pipe(
    Config.withDefault(""),
    Config.map(archivePlace)
  ),
  demoArchive: Config.Boolean("GATEWAY_DEMO_ARCHIVE").pipe(Config.withDefault(false)),
  archiveRedirect: Config.Boolean("GATEWAY_ARCHIVE_REDIRECT").pipe(Config.withDefault(false)),
  webhookAllowPrivate: Config.option(Config.Boolean("GATEWAY_WEBHOOK_ALLOW_PRIVATE")),
  oidcIssuer: Config.schema(Issuer, "GATEWAY_OIDC_ISSUER").pipe(Config.withDefault("")),
  oidcClientId: Config.String("GATEWAY_OIDC_CLIENT_ID").pipe(Config.withDefault("")),
  oidcClientSecret: secret("GATEWAY_OIDC_CLIENT_SECRET"),
  oidcScopes: Config.schema(Scopes, "GATEWAY_OIDC_SCOPES").pipe(
    Config.withDefault("openid email profile")
  ),
  oidcGroupsClaim: Config.String("GATEWAY_OIDC_GROUPS_CLAIM").pipe(Config.withDefault("groups")),
  oidcRoles: Config.schema(RoleRules, "GATEWAY_OIDC_ROLES").pipe(
    Config.withDefault(""),
    Config.map(roleRulesOf)
  ),
  oidcOrganizations: Config.schema(OrganizationRules, "GATEWAY_OIDC_ORGANIZATIONS").pipe(
    Config.withDefault(""),
    Config.map(organizationRulesOf)
  ),
  telemetry: telemetryConfig,
  listsInFlight,
  settings
})

export interface GatewayConfig {
  /** Address of the listener; `0.0.0.0` is every address of the machine. */
  readonly host: string
  /** Port of the listener; 0 takes a free one. */
  readonly port: number
  /**
   * `1`: other gateways on this machine may listen on the same port (Linux). Requires
   * `DATABASE_URL` and a fixed `PORT`.
   */
  readonly reusePort: boolean
  /**
   * Port of an additional listener on `HOST` for `GET /metrics` alone, without a token; absent:
   * there is no such listener.
   */
  readonly metricsPort: number | null
  /**
   * URL of the PostgreSQL server, or of several of which one is the primary; absent: the embedded
   * database in `DATA_DIR`.
   */
  readonly databaseUrl: Redacted.Redacted | null
  /** Size of the connection pool to the server; one more connection listens for changes. */
  readonly databasePool: number
  /**
   * `0`: the gateway applies no migrations at its start, and is not ready until the command
   * `migrate` has applied them. Requires `DATABASE_URL`.
   */
  readonly migrate: boolean
  /**
   * Directory of the embedded database, of generated secrets and of the demo's API key (mode 0600).
   */
  readonly dataDir: string
  /**
   * The master key that encrypts the vendors' keys: 32 bytes in base64. Required with
   * `DATABASE_URL`, else generated.
   */
  readonly masterKey: Redacted.Redacted | null
  /**
   * The previous master key during a key rotation: it decrypts secrets that it has encrypted, and
   * encrypts no new ones.
   */
  readonly previousMasterKey: Redacted.Redacted | null
  /**
   * Bearer token of `/admin/v1` and `/metrics`; generated with the embedded database. Absent
   * otherwise: only the tokens of operators are accepted.
   */
  readonly adminToken: Redacted.Redacted | null
  /**
   * Bucket into which results of tasks are copied:
   * `s3://bucket/prefix?endpoint=https://...&region=...`, with the credentials in the usual AWS
   * variables; absent: there is no archive.
   */
  readonly archive: ReturnType<typeof archivePlace>
  /** `1`: starts the simulator and fills an empty database with demo data; `npm start` sets it. */
  readonly demo: boolean
  /** `1`: the demo archives results in its own bucket, which is stored in `DATA_DIR`. */
  readonly demoArchive: boolean
  /** Port of the simulator of the demo. */
  readonly simulatorPort: number
  /**
   * Issuer of the identity provider with whose accounts people sign in, such as
   * `https://login.example.com`; absent: people paste a token or key. Sign-in needs
   * `GATEWAY_OIDC_CLIENT_ID`, `GATEWAY_PUBLIC_URL`, and roles or organisations.
   */
  readonly oidcIssuer: string
  /** The id under which the provider knows the gateway. */
  readonly oidcClientId: string
  /** The secret that the provider gave to the gateway; absent: a public client. */
  readonly oidcClientSecret: Redacted.Redacted | null
  /** What the gateway asks the provider for. */
  readonly oidcScopes: string
  /** The claim in which the provider lists a person's groups. */
  readonly oidcGroupsClaim: string
  /**
   * Who is an operator, and as what, such as `media-admins=owner,media-finance=finance`. In place of
   * a group an e-mail address or `@domain` may stand, if the provider has verified the address. Of
   * several roles the highest applies.
   */
  readonly oidcRoles: ReadonlyArray<Rule<Role>>
  /**
   * Who is a member of which organisation, such as `@example.com=org_1,film-team=org_2`. Of several
   * organisations the first one applies.
   */
  readonly oidcOrganizations: ReadonlyArray<Rule<string>>
  readonly telemetry: TelemetryConfig
  readonly settings: Settings
}

/**
 * A variable has a value that cannot be used. The message names the variable and what was expected,
 * but not the value, which may be a secret.
 * @public
 */
export class VariableUnusable extends Schema.TaggedError<VariableUnusable>()("VariableUnusable", {
  message: Schema.String
}) {}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const variableUnusable = ({ cause, message }: Config.ConfigError): VariableUnusable => {
  const [issue] = Schema.isSchemaError(cause) ? issuesOf(cause.issue).issues : []
  return new VariableUnusable({
    message:
      issue === undefined ? message : `${issue.path?.join("_")} cannot be used: ${issue.message}`
  })
}

export const loadConfig = Effect.map(
  Effect.mapError(gatewayConfig, variableUnusable),
  ({
    archiveRedirect,
    publicUrl,
    webhookAllowPrivate,
    listsInFlight,
    ...config
  }): GatewayConfig => ({
    ...config,
    settings: {
      ...defaultSettings,
      ...config.settings,
      addressConnections:
        config.settings.addressConnections ??
        Math.ceil(config.settings.maxConnections * SHARE_OF_ADDRESS),
      soleGateway: config.databaseUrl === null,
      hasArchive: config.archive !== null,
      archiveRedirect,
      publicUrl,
      listsInFlight:
        listsInFlight !== ""
          ? listsInFlight
          : config.databaseUrl === null
            ? 1
            : Math.max(1, Math.floor(config.databasePool * SHARE_OF_LISTS)),
      // The demo runs on the user's own machine, so webhooks to private addresses are allowed.
      webhookAllowPrivate: Option.getOrElse(webhookAllowPrivate, () => config.demo)
    }
  })
)
