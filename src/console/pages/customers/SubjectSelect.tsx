import { Select } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { Effect } from "effect"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"

const TYPING_MILLIS = 300
const MAX_MATCHES = 50

/** A field that selects an organisation, a member or a key by the start of its name. */
export const SubjectSelect = ({
  organizationId,
  of,
  value,
  error,
  onChange
}: {
  /** The organisation of the members or keys; null for all organisations. */
  readonly organizationId: string | null
  readonly of: "organization" | "member" | "key"
  readonly value: string
  readonly error: ReactNode
  readonly onChange: (id: string) => void
}) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const [input, setInput] = useState("")
  const [name] = useDebouncedValue(input.replace(/ \(.*\)$/, ""), TYPING_MILLIS)
  const query = {
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    totals: "false" as const,
    limit: MAX_MATCHES,
    ...(name.trim() === "" ? {} : { name: name.trim() })
  }
  const matches = useApiQuery(["books", organizationId, of, "found", name], (gateway) =>
    Effect.map(
      of === "organization"
        ? gateway.accounts.listOrganizations({ query })
        : of === "member"
          ? gateway.accounts.listMembers({ query })
          : gateway.accounts.listKeys({ query: { ...query, state: "valid" } }),
      ({
        data
      }: {
        readonly data: ReadonlyArray<{ readonly id: string; readonly name: string }>
      }) => data.map((match) => ({ value: match.id, label: `${match.name} (${match.id})` }))
    )
  )
  return (
    <Select
      label={money(`spend.groups.${of}`)}
      searchable
      data={matches.data ?? []}
      value={value === "" ? null : value}
      error={error}
      onSearchChange={setInput}
      onChange={(id) => onChange(id ?? "")}
      nothingFoundMessage={matches.isFetching ? "…" : t("budgets.noSubject")}
      filter={({ options }) => options}
    />
  )
}
