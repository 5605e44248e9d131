/** The options of a chaos test. */

/** The number of disasters per minute, by kind. */
export interface Rates {
  /** SIGKILL to a gateway. */
  readonly kills: number
  /** SIGTERM to a gateway. */
  readonly stops: number
  /** SIGSTOP to a gateway, with SIGCONT after its lease has expired. */
  readonly pauses: number
  /** SIGKILL to PostgreSQL. */
  readonly postgresKills: number
  /** `pg_terminate_backend` on some connections. */
  readonly terminations: number
  /** Connections between gateways and PostgreSQL that are cut or stalled on the network. */
  readonly cuts: number
}

/** The time settings of the gateways, in seconds. */
export interface Pace {
  readonly lease: number
  readonly submitDeadline: number
  /** Of images and of texts. */
  readonly imageDeadline: number
  readonly taskDeadline: number
  readonly unknownGrace: number
}

export interface ChaosOptions {
  /**
   * The seed of all random choices: orders, customers, behaviours and the schedule of disasters.
   */
  readonly seed: string
  /** The duration of orders and disasters, without the quiet phase at the end. */
  readonly minutes: number
  readonly gateways: number
  readonly clients: number
  readonly rates: Rates
  readonly pace: Pace
  /** Whether the test requires at most one job at a vendor for each `Idempotency-Key`. */
  readonly idempotency: boolean
  /**
   * The maximum time from PostgreSQL's return to the first 2xx response; null measures it without a
   * limit.
   */
  readonly recoverySeconds: number | null
  /** The program that makes a Citus cluster to run on; null for one PostgreSQL. */
  readonly citus: string | null
  /** The directory for the logs; null creates a temporary directory. */
  readonly logs: string | null
}

/**
 * The default rates, at which ten minutes on two cores make 240 gateway kills and 26 PostgreSQL
 * kills.
 */
export const defaultOptions: Omit<ChaosOptions, "seed"> = {
  minutes: 3,
  gateways: 3,
  clients: 24,
  rates: { kills: 24, stops: 2, pauses: 4, postgresKills: 2.6, terminations: 10, cuts: 12 },
  pace: { lease: 2, submitDeadline: 8, imageDeadline: 8, taskDeadline: 60, unknownGrace: 5 },
  idempotency: true,
  recoverySeconds: 10,
  citus: null,
  logs: null
}

/** The command that reproduces the same schedule. */
export const commandOf = (options: ChaosOptions): string => {
  const { rates, pace } = defaultOptions
  const flags: ReadonlyArray<readonly [flag: string, value: number, fallback: number]> = [
    ["gateways", options.gateways, defaultOptions.gateways],
    ["clients", options.clients, defaultOptions.clients],
    ["kills-per-minute", options.rates.kills, rates.kills],
    ["stops-per-minute", options.rates.stops, rates.stops],
    ["pauses-per-minute", options.rates.pauses, rates.pauses],
    ["postgres-kills-per-minute", options.rates.postgresKills, rates.postgresKills],
    ["terminations-per-minute", options.rates.terminations, rates.terminations],
    ["cuts-per-minute", options.rates.cuts, rates.cuts],
    ["lease-seconds", options.pace.lease, pace.lease],
    ["submit-deadline-seconds", options.pace.submitDeadline, pace.submitDeadline],
    ["image-deadline-seconds", options.pace.imageDeadline, pace.imageDeadline],
    ["task-deadline-seconds", options.pace.taskDeadline, pace.taskDeadline],
    ["unknown-grace-seconds", options.pace.unknownGrace, pace.unknownGrace]
  ]
  const changed = flags.flatMap(([flag, value, fallback]) =>
    value === fallback ? [] : [`--${flag} ${value}`]
  )
  return [
    `npm run chaos -- --seed ${options.seed} --minutes ${options.minutes}`,
    ...changed,
    ...(options.idempotency ? [] : ["--no-idempotency"]),
    ...(options.citus === null ? [] : [`--citus ${options.citus}`])
  ].join(" ")
}
