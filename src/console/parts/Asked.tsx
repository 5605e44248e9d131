/** What a question to the gateway is while it runs, when it failed, and when it is answered. */
import { Skeleton, Stack } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { FailureNote } from "./FailureNote.tsx"

interface Props<A> {
  readonly query: UseQueryResult<A>
  readonly children: (answer: A) => ReactNode
  /** Lines that stand for the answer while it is awaited. */
  readonly lines?: number
}

const LINE_HEIGHT = 20

export const Asked = <A,>({ query, children, lines = 3 }: Props<A>) => {
  const { t } = useTranslation()
  if (query.data !== undefined) return children(query.data)
  if (query.isError) {
    return <FailureNote error={query.error} onAgain={() => void query.refetch()} />
  }
  return (
    <Stack gap="xs" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <Skeleton key={line} height={LINE_HEIGHT} />
      ))}
    </Stack>
  )
}
