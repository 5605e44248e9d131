/** The frame of an opened order: the link back, sections, and tables of facts. */
import { Button, Card, CopyButton, Stack, Table, Text, Title } from "@mantine/core"
import { IconCheck, IconLink } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { useSearch } from "wouter"
import { failureOf } from "../../../gateway/failures.ts"
import { BackLink } from "../../../parts/controls/BackLink.tsx"

/** The link to the list of orders, with its filters. */
export const ListLink = () => {
  const { t } = useTranslation("orders")
  const search = useSearch()
  return <BackLink href={search === "" ? "/" : `/?${search}`} label={t("one.back")} />
}

/** Copies a link to the open order, without the filters of the list that led there. */
export const CopyLink = () => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  return (
    <CopyButton value={`${window.location.origin}${window.location.pathname}`}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          leftSection={copied ? <IconCheck size={16} /> : <IconLink size={16} />}
          onClick={copy}
        >
          {copied ? shell("copied") : t("one.copyLink")}
        </Button>
      )}
    </CopyButton>
  )
}

/**
 * The page for an unknown order. The gateway responds in the same way to orders of others and to
 * ids that do not exist.
 */
export const NoSuchOrder = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("orders")
  return (
    <Stack align="flex-start">
      <ListLink />
      <Title order={1}>{t("one.noSuch")}</Title>
      <Text className="said">{t("one.noSuchHint", { id })}</Text>
    </Stack>
  )
}

export const isMissing = (error: unknown): boolean =>
  ["not_found", "task_not_found"].includes(failureOf(error).code)

export const Section = ({
  label,
  children
}: {
  readonly label: string
  readonly children: ReactNode
}) => (
  <Card withBorder component="section" aria-label={label} p="md">
    <Title order={2} size="h4" mb="sm">
      {label}
    </Title>
    <Stack gap="sm">{children}</Stack>
  </Card>
)

/** A table of names and values; entries without a value are left out. */
export const Facts = ({
  label,
  facts
}: {
  readonly label: string
  readonly facts: Readonly<Record<string, ReactNode>>
}) => (
  <Table aria-label={label} variant="vertical" layout="fixed" withTableBorder={false}>
    <Table.Tbody>
      {Object.entries(facts)
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="42%" scope="row" fw={500}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
          </Table.Tr>
        ))}
    </Table.Tbody>
  </Table>
)
