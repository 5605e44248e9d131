import { Select } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { Effect } from "effect"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"

const TYPING_MILLIS = 300
const MAX_MATCHES = 50

/** A field that selects a member or a key by the start of its name. */
export const SubjectSelect = ({
  organizationId,
  of,
  value,
  error,
  onChange
}: {
  readonly organizationId: string
  readonly of: "member" | "key"
  readonly value: string
  readonly error: ReactNode
  readonly onChange: (id: string) => void
}) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const [input, setInput] = useState("")
  const [name] = useDebouncedValue(input.replace(/ \(.*\)$/, ""), TYPING_MILLIS)
  const query = {
    organization_id: organizationId,
    totals: "false" as const,
    limit: MAX_MATCHES,
    ...(name.trim() === "" ? {} : { name: name.trim() })
  }
  const matches = useApiQuery(["books", organizationId, of, "found", name], (gateway) =>
    of === "member"
      ? Effect.map(gateway.accounts.listMembers({ query }), ({ data }) =>
          data.map((member) => ({ value: member.id, label: `${member.name} (${member.id})` }))
        )
      : Effect.map(gateway.accounts.listKeys({ query: { ...query, state: "valid" } }), ({ data }) =>
          data.map((key) => ({ value: key.id, label: `${key.name} (${key.id})` }))
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
