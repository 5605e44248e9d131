/** An error as a sentence, with the gateway's message and possible actions. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core"
import { Schema } from "effect"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { decodeDetails, type Failure, failureOf } from "../gateway/failures.ts"

const Lacking = Schema.Struct({ required: Schema.String, available: Schema.String })
const Budget = Schema.Struct({
  used: Schema.String,
  amount: Schema.String,
  required: Schema.String
})
const Cap = Schema.Struct({ used: Schema.String, cap: Schema.String, required: Schema.String })
const Waiting = Schema.Struct({ retryAfterSeconds: Schema.Number })

/** Sentences from the additional fields of the error code. */
const useFacts = (failure: Failure): ReadonlyArray<string> => {
  const { t, i18n } = useTranslation("failures")
  const lacking = decodeDetails(failure, Lacking)
  const cap = decodeDetails(failure, Cap)
  const budget = decodeDetails(failure, Budget) ?? (cap && { ...cap, amount: cap.cap })
  const seconds = decodeDetails(failure, Waiting)?.retryAfterSeconds
  const formatTime = (wait: number) =>
    new Date(Date.now() + wait * 1000).toLocaleString(i18n.language, {
      dateStyle: "medium",
      timeStyle: "short"
    })
  return [
    lacking && t("required", lacking),
    budget && t("used", budget),
    seconds === undefined
      ? undefined
      : budget === undefined
        ? t("retryAfter", { seconds })
        : t("until", { when: formatTime(seconds) })
  ].filter((fact) => fact !== undefined)
}

interface Props {
  readonly error: unknown
  /** Retries the request; without this handler there is no retry button. */
  readonly onRetry?: () => void
  /** Additional actions, such as a button that sets the nearest valid value. */
  readonly children?: ReactNode
}

export const FailureNote = ({ error, onRetry, children }: Props) => {
  const { t } = useTranslation("failures")
  const { t: shell } = useTranslation()
  const failure = failureOf(error)
  const facts = useFacts(failure)
  return (
    <Alert color="red" role="alert" title={t(`titles.${failure.code}`)}>
      <Stack gap="xs" align="flex-start">
        {failure.message === "" ? null : (
          <Text size="sm" className="said">
            {failure.message}
          </Text>
        )}
        {facts.map((fact) => (
          <Text key={fact} size="sm">
            {fact}
          </Text>
        ))}
        <Group gap="xs">
          {children}
          {onRetry === undefined ? null : (
            <Button size="xs" variant="default" onClick={onRetry}>
              {shell("again")}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}
