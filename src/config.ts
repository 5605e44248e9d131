/** Every variable the gateway reads, named once. */
import { Config, Effect, Option, Redacted, Schema } from "effect"
import { defaultSettings, type Settings } from "./runtime/Settings.ts"

const positive = Schema.NumberFromString.check(
  Schema.isFinite(),
  Schema.isGreaterThan(0, { expected: "a number greater than 0" })
)

const seconds = (name: string, fallback: number) =>
  Config.schema(positive, name).pipe(Config.withDefault(fallback))

const whole = (name: string, fallback: number) =>
  Config.schema(positive.check(Schema.isInt()), name).pipe(Config.withDefault(fallback))

const notNegative = Schema.NumberFromString.check(
  Schema.isFinite(),
  Schema.isGreaterThanOrEqualTo(0, { expected: "a number of 0 or more" })
)

/** 0 is any number. */
const perMinute = (name: string, fallback: number) =>
  Config.schema(notNegative.check(Schema.isInt()), name).pipe(Config.withDefault(fallback))

/** Offsets are left out: PostgreSQL counts them with the opposite sign. */
const isTimeZone = (name: string): boolean => {
  if (/^[+-]/.test(name)) return false
  try {
    new Intl.DateTimeFormat("en", { timeZone: name })
    return true
  } catch {
    return false
  }
}

const TimeZone = Schema.String.check(
  Schema.makeFilter(isTimeZone, { expected: "an IANA time zone such as Asia/Shanghai" })
)

/** Times and limits; each has a default that fits production. */
const settings = Config.all({
  currency: Config.String("GATEWAY_CURRENCY").pipe(Config.withDefault(defaultSettings.currency)),
  timeZone: Config.schema(TimeZone, "GATEWAY_TIME_ZONE").pipe(
    Config.withDefault(defaultSettings.timeZone)
  ),
  submitDeadlineSeconds: seconds(
    "GATEWAY_SUBMIT_DEADLINE_SECONDS",
    defaultSettings.submitDeadlineSeconds
  ),
  imageDeadlineSeconds: seconds(
    "GATEWAY_IMAGE_DEADLINE_SECONDS",
    defaultSettings.imageDeadlineSeconds
  ),
  textDeadlineSeconds: seconds(
    "GATEWAY_TEXT_DEADLINE_SECONDS",
    defaultSettings.textDeadlineSeconds
  ),
  textStreamDeadlineSeconds: seconds(
    "GATEWAY_TEXT_STREAM_DEADLINE_SECONDS",
    defaultSettings.textStreamDeadlineSeconds
  ),
  taskDeadlineSeconds: seconds(
    "GATEWAY_TASK_DEADLINE_SECONDS",
    defaultSettings.taskDeadlineSeconds
  ),
  unknownGraceSeconds: seconds(
    "GATEWAY_UNKNOWN_GRACE_SECONDS",
    defaultSettings.unknownGraceSeconds
  ),
  askIntervalSeconds: seconds("GATEWAY_ASK_INTERVAL_SECONDS", defaultSettings.askIntervalSeconds),
  leaseSeconds: seconds("GATEWAY_LEASE_SECONDS", defaultSettings.leaseSeconds),
  idempotencySeconds: seconds("GATEWAY_IDEMPOTENCY_SECONDS", defaultSettings.idempotencySeconds),
  pollerSeconds: seconds("GATEWAY_POLLER_SECONDS", defaultSettings.pollerSeconds),
  pollsPerChannel: whole("GATEWAY_POLLS_PER_CHANNEL", defaultSettings.pollsPerChannel),
  callLogDays: Config.schema(positive, "GATEWAY_CALL_LOG_DAYS").pipe(
    Config.withDefault(defaultSettings.callLogDays)
  ),
  auditSeconds: seconds("GATEWAY_AUDIT_SECONDS", defaultSettings.auditSeconds),
  drainSeconds: Config.schema(notNegative, "GATEWAY_DRAIN_SECONDS").pipe(
    Config.withDefault(defaultSettings.drainSeconds)
  ),
  shutdownSeconds: seconds("GATEWAY_SHUTDOWN_SECONDS", defaultSettings.shutdownSeconds),
  keyRequestsPerMinute: perMinute(
    "GATEWAY_KEY_REQUESTS_PER_MINUTE",
    defaultSettings.keyRequestsPerMinute
  ),
  keyQuotesPerMinute: perMinute(
    "GATEWAY_KEY_QUOTES_PER_MINUTE",
    defaultSettings.keyQuotesPerMinute
  ),
  keyModelsPerMinute: perMinute(
    "GATEWAY_KEY_MODELS_PER_MINUTE",
    defaultSettings.keyModelsPerMinute
  ),
  keyRefusalsPerMinute: perMinute(
    "GATEWAY_KEY_REFUSALS_PER_MINUTE",
    defaultSettings.keyRefusalsPerMinute
  ),
  addressUnknownKeysPerMinute: perMinute(
    "GATEWAY_ADDRESS_UNKNOWN_KEYS_PER_MINUTE",
    defaultSettings.addressUnknownKeysPerMinute
  ),
  organizationInFlight: whole(
    "GATEWAY_ORGANIZATION_IN_FLIGHT",
    defaultSettings.organizationInFlight
  ),
  organizationWaits: whole("GATEWAY_ORGANIZATION_WAITS", defaultSettings.organizationWaits),
  channelInFlight: whole("GATEWAY_CHANNEL_IN_FLIGHT", defaultSettings.channelInFlight),
  bodyBudgetBytes: whole("GATEWAY_BODY_BUDGET_BYTES", defaultSettings.bodyBudgetBytes),
  maxConnections: whole("GATEWAY_MAX_CONNECTIONS", defaultSettings.maxConnections),
  headSeconds: seconds("GATEWAY_HEAD_SECONDS", defaultSettings.headSeconds),
  requestSeconds: seconds("GATEWAY_REQUEST_SECONDS", defaultSettings.requestSeconds),
  maxMediaBodyBytes: whole("GATEWAY_MAX_BODY_BYTES", defaultSettings.maxMediaBodyBytes)
})

/** 0 takes a free port, which the start announces. */
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
  Config.map((given) => (given === "" ? null : given))
)

const optional = (name: string) => Config.option(Config.Redacted(name))

const gatewayConfig = Config.all({
  host: Config.String("HOST").pipe(Config.withDefault("127.0.0.1")),
  port: port("PORT", 8080),
  reusePort: Config.Boolean("GATEWAY_REUSE_PORT").pipe(Config.withDefault(false)),
  metricsPort,
  databaseUrl: optional("DATABASE_URL"),
  databasePool: Config.Int("DATABASE_POOL").pipe(Config.withDefault(16)),
  dataDir: Config.String("DATA_DIR").pipe(Config.withDefault(".data")),
  masterKey: optional("GATEWAY_MASTER_KEY"),
  previousMasterKey: optional("GATEWAY_MASTER_KEY_PREVIOUS"),
  adminToken: optional("GATEWAY_ADMIN_TOKEN"),
  demo: Config.Boolean("GATEWAY_DEMO").pipe(Config.withDefault(false)),
  simulatorPort: port("GATEWAY_SIMULATOR_PORT", 8081),
  settings
})

export interface GatewayConfig {
  /** Address of the listener; `0.0.0.0` is every address of the machine. */
  readonly host: string
  /** Port of the listener; 0 takes a free one. */
  readonly port: number
  /**
   * `1`: other gateways on this machine may listen on the same port (Linux). Needs `DATABASE_URL` and
   * a `PORT` of its own choice.
   */
  readonly reusePort: boolean
  /** Port of a listener on `HOST` for `GET /metrics` alone, without a token; absent: there is none. */
  readonly metricsPort: number | null
  /** PostgreSQL server; absent: the embedded database in `DATA_DIR`. */
  readonly databaseUrl: Redacted.Redacted | null
  /** Connections to the server; one more listens for changes. */
  readonly databasePool: number
  /** Directory of the embedded database, of generated secrets and of the demo's API key (mode 0600). */
  readonly dataDir: string
  /** 32 bytes in base64 that seal the vendors' keys; required with `DATABASE_URL`, else generated. */
  readonly masterKey: Redacted.Redacted | null
  /** The master key that is being replaced: opens what it has sealed, and seals nothing. */
  readonly previousMasterKey: Redacted.Redacted | null
  /**
   * Bearer of `/admin/v1` and `/metrics`; generated with the embedded database. Absent otherwise:
   * nobody is let in.
   */
  readonly adminToken: Redacted.Redacted | null
  /** `1`: start the simulator and fill an empty database; `npm start` sets it. */
  readonly demo: boolean
  /** Port of the simulator of the demo. */
  readonly simulatorPort: number
  readonly settings: Settings
}

/** An empty variable counts as absent, as it does in shells and compose files. */
const present = (value: Option.Option<Redacted.Redacted>): Redacted.Redacted | null =>
  Option.isSome(value) && Redacted.value(value.value) !== "" ? value.value : null

export const loadConfig = Effect.map(gatewayConfig, (config): GatewayConfig => {
  const databaseUrl = present(config.databaseUrl)
  return {
    ...config,
    databaseUrl,
    masterKey: present(config.masterKey),
    previousMasterKey: present(config.previousMasterKey),
    adminToken: present(config.adminToken),
    settings: { ...defaultSettings, ...config.settings, soleGateway: databaseUrl === null }
  }
})
