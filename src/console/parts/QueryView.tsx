/** Shows a query: a skeleton while it loads, the error if it fails, otherwise its data. */
import { Skeleton, Stack } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { FailureNote } from "./FailureNote.tsx"

interface Props<A> {
  readonly query: UseQueryResult<A>
  readonly children: (answer: A) => ReactNode
  /** The number of skeleton lines. */
  readonly lines?: number
}

const LINE_HEIGHT = 20

export const QueryView = <A,>({ query, children, lines = 3 }: Props<A>) => {
  const { t } = useTranslation()
  if (query.data !== undefined) return children(query.data)
  if (query.isError) {
    return <FailureNote error={query.error} onRetry={() => void query.refetch()} />
  }
  return (
    <Stack gap="xs" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all skeleton lines are the same
        <Skeleton key={line} height={LINE_HEIGHT} />
      ))}
    </Stack>
  )
}
