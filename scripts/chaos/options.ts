/** What a run of the chaos test is made of. */

/** Disasters a minute. */
export interface Rates {
  /** SIGKILL to a gateway. */
  readonly kills: number
  /** SIGTERM to a gateway. */
  readonly stops: number
  /** SIGSTOP to a gateway, and SIGCONT later than its lease. */
  readonly pauses: number
  /** SIGKILL to PostgreSQL. */
  readonly postgresKills: number
  /** `pg_terminate_backend` on some connections. */
  readonly terminations: number
  /** Connections between gateways and PostgreSQL cut or silenced on their way. */
  readonly cuts: number
}

/** Times the gateways run with, in seconds. */
export interface Pace {
  readonly lease: number
  readonly submitDeadline: number
  readonly imageDeadline: number
  readonly taskDeadline: number
  readonly unknownGrace: number
}

export interface ChaosOptions {
  /** Decides what is ordered, by whom and how, and which disaster comes when. */
  readonly seed: string
  /** How long orders and disasters last; the quiet end comes on top. */
  readonly minutes: number
  readonly gateways: number
  readonly clients: number
  readonly rates: Rates
  readonly pace: Pace
  /** Whether one `Idempotency-Key` must be at most one job at a vendor. */
  readonly idempotency: boolean
  /** Longest time from PostgreSQL's return to the first 2xx; null: measured and not judged. */
  readonly recoverySeconds: number | null
  /** Where the logs go; null: a new temporary directory. */
  readonly logs: string | null
}

/** Ten minutes of these are 240 gateway kills and 26 PostgreSQL kills, on two cores. */
export const defaultOptions: Omit<ChaosOptions, "seed"> = {
  minutes: 3,
  gateways: 3,
  clients: 24,
  rates: { kills: 24, stops: 2, pauses: 4, postgresKills: 2.6, terminations: 10, cuts: 12 },
  pace: { lease: 2, submitDeadline: 8, imageDeadline: 8, taskDeadline: 60, unknownGrace: 5 },
  idempotency: true,
  recoverySeconds: 10,
  logs: null
}

/** The command that runs the same schedule again. */
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
    ...(options.idempotency ? [] : ["--no-idempotency"])
  ].join(" ")
}
