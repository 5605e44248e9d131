/** The timeline of an order for operators: every state, channel and ledger entry. */
import { Schema } from "effect"
import { useTranslation } from "react-i18next"
import { TaskState } from "../../../../domain/taskStates.ts"
import type { TimelineView } from "../../../../features/history/HistoryApi.ts"
import type { ReceiptView } from "../../../../http/api/receipts.ts"
import { groupDigits } from "../../../parts/texts.tsx"
import { millisBetween, useCurrentTime, useLength } from "../orderMarks.tsx"
import type { LifePart, LifeStep } from "./OrderLife.tsx"

export type OrderHistory = typeof TimelineView.Type

const openStates: ReadonlyArray<string> = ["waiting", "submitting", "processing"]

export const isOpen = ({ state }: OrderHistory): boolean => openStates.includes(state)

const isState = Schema.is(TaskState)

const styleOf = (state: string): LifeStep["stepStyle"] =>
  state === "succeeded" ? "succeeded" : openStates.includes(state) ? "working" : "failed"

type Corrections = ReceiptView["corrections"]

const useSteps = (
  history: OrderHistory,
  currency: string,
  corrections: Corrections
): ReadonlyArray<LifeStep> => {
  const { t } = useTranslation("orders")
  const money = (amount: string) => `${groupDigits(amount)} ${currency}`.trim()
  const isRefunded = !history.ledger.some(({ kind }) => kind === "capture")
  const ledgerSteps = history.ledger.flatMap(({ kind, amount, at }): ReadonlyArray<LifeStep> => {
    switch (kind) {
      case "hold":
        return [
          { key: kind, stepStyle: "held", title: t("life.held", { amount: money(amount) }), at }
        ]
      case "capture":
        return [
          { key: kind, stepStyle: "taken", title: t("life.charged", { amount: money(amount) }), at }
        ]
      case "overage":
        return [
          { key: kind, stepStyle: "taken", title: t("life.overage", { amount: money(amount) }), at }
        ]
      case "release":
        return [
          {
            key: kind,
            stepStyle: "returned",
            title: t(isRefunded ? "life.refunded" : "life.released", { amount: money(amount) }),
            at
          }
        ]
      default:
        return []
    }
  })
  const attemptSteps = history.attempts.map(
    ({ channel, started_at, reason, status }, index): LifeStep => ({
      key: `attempt ${index}`,
      stepStyle: "sent",
      title: t("life.sentTo", { channel }),
      at: started_at,
      ...(reason === null
        ? {}
        : {
            details: [
              t(index < history.attempts.length - 1 ? "life.wentOn" : "life.failedBy", { reason }),
              ...(status === null ? [] : [t("life.answered", { status })])
            ].join(" · ")
          })
    })
  )
  const transitionSteps = history.transitions.map(
    ({ state, at, by }, index): LifeStep => ({
      key: `state ${index}`,
      stepStyle: styleOf(state),
      title: isState(state) ? t(`innerStates.${state}`) : state,
      at,
      details: t("life.moved", { by })
    })
  )
  const correctionSteps = corrections.map(
    ({ id, amount, reason, at }): LifeStep => ({
      key: id,
      stepStyle: "returned",
      title: t("life.corrected", { amount: money(amount) }),
      at,
      details: reason
    })
  )
  const [first, ...laterLedgerSteps] = ledgerSteps
  const deletionSteps: ReadonlyArray<LifeStep> =
    history.deleted_at === null
      ? []
      : [{ key: "deleted", stepStyle: "deleted", title: t("life.deleted"), at: history.deleted_at }]
  // The sort is stable, so steps with the same time keep the order of this list.
  return [
    ...(first === undefined ? [] : [first]),
    ...transitionSteps,
    ...attemptSteps,
    ...laterLedgerSteps,
    ...correctionSteps,
    ...deletionSteps
  ].sort((one, other) => (one.at ?? "").localeCompare(other.at ?? ""))
}

const colors = ["cyan", "indigo"] as const

export const useTimelineLife = (
  history: OrderHistory,
  currency: string,
  /** The amounts that were returned from its charge later. */
  corrections: Corrections
): { readonly steps: ReadonlyArray<LifeStep>; readonly parts: ReadonlyArray<LifePart> } => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const isRunning = isOpen(history)
  const now = useCurrentTime(isRunning)
  const steps = useSteps(history, currency, corrections)
  const [, ...laterLedgerSteps] = history.transitions
  // Tasks are first submitted and then processed; other orders are processed from the start.
  const acceptedAt = ["waiting", "submitting"].includes(history.transitions[0]?.state ?? "")
    ? (laterLedgerSteps.find(({ state }) => state === "processing")?.at ?? null)
    : null
  const end = isRunning
    ? new Date(now).toISOString()
    : (history.transitions.at(-1)?.at ?? history.created_at)
  const attemptParts = history.attempts.map(({ channel, started_at }, index): LifePart => {
    const nextAt = history.attempts[index + 1]?.started_at ?? acceptedAt ?? end
    return {
      key: `attempt ${index}`,
      label: channel,
      millis: Math.max(0, millisBetween(started_at, nextAt)),
      color: colors[index % colors.length] ?? "cyan"
    }
  })
  const workParts: ReadonlyArray<LifePart> =
    acceptedAt === null
      ? []
      : [
          {
            key: "work",
            label: t("life.work"),
            millis: Math.max(0, millisBetween(acceptedAt, end)),
            color: isRunning ? "blue" : history.state === "succeeded" ? "green" : "red"
          }
        ]
  const runningSteps: ReadonlyArray<LifeStep> = isRunning
    ? [
        {
          key: "running",
          stepStyle: "waiting",
          title: t("life.working", {
            time: length(Math.max(0, millisBetween(history.created_at, end)))
          }),
          at: null
        }
      ]
    : []
  return { steps: [...steps, ...runningSteps], parts: [...attemptParts, ...workParts] }
}
