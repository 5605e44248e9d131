/**
 * The names of organisations, members and keys, requested once for each id, and fields that select
 * one of them.
 */
import { Anchor, Group, Select, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ApiCall } from "../../gateway/client.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { Id } from "../../parts/texts.tsx"
import type { FilterChange, OrderFilters } from "./orderFilters.ts"

interface NamedEntry {
  readonly id: string
  readonly name: string
}
interface Page {
  readonly data: ReadonlyArray<NamedEntry>
}
interface ListQuery {
  readonly limit: number
  readonly totals: "false"
  readonly name?: string
}

const readers = {
  organization:
    (id: string): ApiCall<NamedEntry> =>
    (gateway) =>
      gateway.accounts.readOrganization({ params: { id } }),
  member:
    (id: string): ApiCall<NamedEntry> =>
    (gateway) =>
      gateway.accounts.readMember({ params: { id } }),
  key:
    (id: string): ApiCall<NamedEntry> =>
    (gateway) =>
      gateway.accounts.readKey({ params: { id } })
}
export type Owner = keyof typeof readers

const lists: Readonly<
  Record<Owner, (listQuery: ListQuery, filters: OrderFilters) => ApiCall<Page>>
> = {
  organization: (query) => (gateway) => gateway.accounts.listOrganizations({ query }),
  member: (query, filters) => (gateway) => {
    const organization_id = filters.value("organization_id")
    return gateway.accounts.listMembers({
      query: organization_id === "" ? query : { ...query, organization_id }
    })
  },
  key: (query, filters) => (gateway) => {
    const [organization_id, member_id] = [
      filters.value("organization_id"),
      filters.value("member_id")
    ]
    return gateway.accounts.listKeys({
      query: {
        ...query,
        ...(organization_id === "" ? {} : { organization_id }),
        ...(member_id === "" ? {} : { member_id })
      }
    })
  }
}

const useName = (owner: Owner, id: string) =>
  useApiQuery(["names", owner, id], readers[owner](id), { isImmutable: true, isEnabled: id !== "" })
    .data?.name

/** The name of an owner; its id while the name is loading or unknown. An organisation is a link. */
export const OwnerName = ({
  owner,
  id,
  withId = false
}: {
  readonly owner: Owner
  readonly id: string
  readonly withId?: boolean
}) => {
  const name = useName(owner, id)
  if (name === undefined) return <Id id={id} />
  if (owner === "organization") {
    return (
      <Group gap="sm">
        <Anchor component={Link} href={`~/console/customers/${id}`} size="sm" title={id}>
          {name}
        </Anchor>
        {withId ? <Id id={id} /> : null}
      </Group>
    )
  }
  return withId ? (
    <Group gap="sm">
      <Text span size="sm">
        {name}
      </Text>
      <Id id={id} />
    </Group>
  ) : (
    <span title={id} className="amount">
      {name}
    </span>
  )
}

const MAX_OPTIONS = 20
const PAUSE_MILLIS = 250
/** The filters that are cleared when their parent changes. */
const dependentFilters: Readonly<Record<Owner, FilterChange>> = {
  organization: { member_id: null, key_id: null },
  member: { key_id: null },
  key: {}
}

export const OwnerField = ({
  owner,
  filters,
  label
}: {
  readonly owner: Owner
  readonly filters: OrderFilters
  readonly label: string
}) => {
  const { t } = useTranslation("orders")
  const ownerId = filters.value(`${owner}_id`)
  const [search, setSearch] = useState("")
  const [debouncedSearch] = useDebouncedValue(search.trim(), PAUSE_MILLIS)
  const chosenName = useName(owner, ownerId)
  // The field writes the name of the selected entry into the search text.
  const name = debouncedSearch === chosenName ? "" : debouncedSearch
  const listQuery: ListQuery = {
    limit: MAX_OPTIONS,
    totals: "false",
    ...(name === "" ? {} : { name })
  }
  const scope = [filters.value("organization_id"), filters.value("member_id")]
  const matches = useApiQuery(
    ["names", owner, "list", name, owner === "organization" ? [] : scope],
    lists[owner](listQuery, filters)
  )
  const options = (matches.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const isListed = ownerId === "" || options.some(({ value }) => value === ownerId)
  return (
    <Select
      label={label}
      placeholder={t("filters.any")}
      data={isListed ? options : [{ value: ownerId, label: chosenName ?? ownerId }, ...options]}
      // The gateway has filtered the choices already.
      filter={({ options: all }) => all}
      value={ownerId === "" ? null : ownerId}
      onChange={(id) => filters.change({ [`${owner}_id`]: id, ...dependentFilters[owner] })}
      searchable
      onSearchChange={setSearch}
      nothingFoundMessage={t("filters.nobody")}
      clearable
      size="sm"
    />
  )
}
