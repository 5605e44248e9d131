/** The entries of one list of the catalog, with the changes of the draft. */
import { ActionIcon, Group, Stack, Text } from "@mantine/core"
import { IconPencil, IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { imageAmounts } from "../../../domain/image/imagePrices.ts"
import { lineInWords } from "../../../domain/video/videoPriceTable.ts"
import { type Column, RowTable } from "../../parts/DataTable.tsx"
import { Amount, Id } from "../../parts/texts.tsx"
import { KindBadge } from "./DifferenceTable.tsx"
import type { EntryDifference } from "./draft/catalogDifference.ts"
import {
  type CatalogText,
  type Entry,
  entriesOf,
  keyOf,
  type ListName,
  type PricesText
} from "./draft/catalogEntries.ts"

/** Each amount of a price table, with its name. */
export const amountsOf = (
  prices: PricesText
): ReadonlyArray<readonly [name: string, amount: string]> => {
  const priceEntries = (name: string, amount: string | undefined) =>
    amount === undefined ? [] : [[name, amount] as const]
  switch (prices.kind) {
    case "token_video":
      return Object.entries(prices.per_million_tokens).flatMap(([tier, row]) => [
        ...priceEntries(tier, row?.without_video),
        ...priceEntries(`${tier} +`, row?.with_video)
      ])
    case "second_video":
      return Object.entries(prices.per_second).flatMap(([tier, amount]) =>
        priceEntries(tier, amount)
      )
    case "video_table": {
      const { lines, reference_surcharge: surcharge } = prices
      return [
        ...lines.flatMap((line) => priceEntries(lineInWords(line), line.price)),
        ...priceEntries(`reference > ${surcharge?.beyond}`, surcharge?.price)
      ]
    }
    case "image":
      return imageAmounts<string>(prices.per_image).flatMap(({ names, amount }) =>
        priceEntries(names.join(" "), amount)
      )
    case "image_tokens":
      return [
        ...priceEntries("↑", prices.per_million_text_input),
        ...priceEntries("↑ image", prices.per_million_image_input),
        ...priceEntries("↑ cache", prices.per_million_cached_input),
        ...priceEntries("↓", prices.per_million_image_output)
      ]
    case "tokens":
      return [
        ...priceEntries("↑", prices.per_million_input),
        ...priceEntries("↓", prices.per_million_output),
        ...priceEntries("↑ cache", prices.per_million_cached_input),
        ...priceEntries("↑ audio", prices.per_million_audio_input),
        ...priceEntries("↓ audio", prices.per_million_audio_output)
      ]
    case "characters":
      return priceEntries("", prices.per_million_characters)
    case "audio_seconds":
      return priceEntries("", prices.per_second)
    case "searches":
      return priceEntries("", prices.per_thousand_searches)
  }
}

const PricesCell = ({
  prices,
  none
}: {
  readonly prices: PricesText | undefined
  readonly none: string
}) => {
  const { t } = useTranslation("catalog")
  if (prices === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {none}
      </Text>
    )
  }
  return (
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {t(`prices.unit.${prices.kind === "video_table" ? prices.unit : prices.kind}`)}
      </Text>
      <Group gap="xs">
        {amountsOf(prices).map(([name, amount]) => (
          <Text key={name} size="sm" component="span">
            <Text size="xs" c="dimmed" component="span">
              {name}{" "}
            </Text>
            <Amount value={amount} />
          </Text>
        ))}
      </Group>
    </Stack>
  )
}

/** The columns of one list. */
const useColumns = (document: CatalogText, list: ListName): ReadonlyArray<Column<Entry>> => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const enabled: Column<Entry> = {
    name: "enabled",
    label: t("fields.enabled"),
    cell: (item) =>
      item.list === "models" ? null : shell((item.entry.enabled ?? true) ? "yes" : "no")
  }
  const mountsText = (item: Entry): string =>
    document.mounts
      .filter(({ model, channel }) =>
        item.list === "channels"
          ? channel === item.entry.id
          : item.list === "models" && model === item.entry.id
      )
      .map(({ model, channel }) => (item.list === "channels" ? model : channel))
      .join(", ")
  switch (list) {
    case "channels":
      return [
        {
          name: "id",
          label: t("fields.id"),
          cell: (item) => (item.list === list ? <Id id={item.entry.id} isFull /> : null)
        },
        {
          name: "name",
          label: t("fields.name"),
          cell: (item) => (item.list === list ? item.entry.name : null)
        },
        {
          name: "address",
          label: t("fields.base_url"),
          cell: (item) =>
            item.list === list ? <span className="id">{item.entry.base_url}</span> : null
        },
        { name: "mounts", label: t("fields.mounts"), cell: mountsText },
        enabled
      ]
    case "models":
      return [
        {
          name: "id",
          label: t("fields.id"),
          cell: (item) => (item.list === list ? <Id id={item.entry.id} isFull /> : null)
        },
        {
          name: "aliases",
          label: t("fields.aliases"),
          cell: (item) => (item.list === list ? item.entry.aliases?.join(", ") : null)
        },
        {
          name: "modality",
          label: t("fields.modality"),
          cell: (item) => (item.list === list ? item.entry.modality : null)
        },
        {
          name: "protocol",
          label: t("fields.protocol"),
          cell: (item) => (item.list === list ? item.entry.protocol : null)
        },
        {
          name: "prices",
          label: t("fields.prices"),
          cell: (item) =>
            item.list === list ? (
              <PricesCell prices={item.entry.prices} none={t("prices.none")} />
            ) : null
        },
        { name: "mounts", label: t("fields.mountedOn"), cell: mountsText },
        {
          name: "owned_by",
          label: t("fields.owned_by"),
          isHidden: true,
          cell: (item) => (item.list === list ? item.entry.owned_by : null)
        },
        {
          name: "input_forms",
          label: t("fields.input_forms"),
          isHidden: true,
          cell: (item) => (item.list === list ? item.entry.input_forms?.join(", ") : null)
        }
      ]
    case "mounts":
      return [
        {
          name: "model",
          label: t("fields.model"),
          cell: (item) => (item.list === list ? <Id id={item.entry.model} isFull /> : null)
        },
        {
          name: "channel",
          label: t("fields.channel"),
          cell: (item) => (item.list === list ? <Id id={item.entry.channel} isFull /> : null)
        },
        {
          name: "upstream_model",
          label: t("fields.upstream_model"),
          cell: (item) =>
            item.list === list ? (
              <span className="id">{item.entry.upstream_model ?? item.entry.model}</span>
            ) : null
        },
        {
          name: "protocol",
          label: t("fields.overProtocol"),
          isHidden: true,
          cell: (item) => (item.list === list ? (item.entry.protocol ?? shell("none")) : null)
        },
        {
          name: "priority",
          label: t("fields.priority"),
          isNumber: true,
          cell: (item) => (item.list === list ? (item.entry.priority ?? 0) : null)
        },
        {
          name: "weight",
          label: t("fields.weight"),
          isNumber: true,
          cell: (item) => (item.list === list ? (item.entry.weight ?? 1) : null)
        },
        {
          name: "cost",
          label: t("fields.cost"),
          cell: (item) =>
            item.list === list ? (
              <PricesCell prices={item.entry.cost} none={t("prices.noCost")} />
            ) : null
        },
        enabled
      ]
  }
}

interface Props {
  readonly document: CatalogText
  readonly list: ListName
  readonly differences: ReadonlyArray<EntryDifference>
  /** A text that the id or another name of an entry must contain. */
  readonly find: string
  /** The handlers of changes; null for operators who may only read. */
  readonly edit: {
    readonly onEdit: (entry: Entry) => void
    readonly onRemove: (entry: Entry) => void
  } | null
}

/** The other texts by which an entry is found: the name of a channel, the aliases of a model. */
const searchTextOf = (item: Entry): string => {
  if (item.list === "channels") return item.entry.name
  return item.list === "models" ? (item.entry.aliases ?? []).join(" ") : ""
}

const matchesText = (item: Entry, text: string): boolean =>
  `${keyOf(item)} ${searchTextOf(item)}`.toLowerCase().includes(text.trim().toLowerCase())

export const EntryTable = ({ document, list, differences, find, edit }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const columns = useColumns(document, list)
  const kinds = new Map(
    differences.filter((item) => item.list === list).map(({ key, kind }) => [key, kind])
  )
  const [firstColumn, ...otherColumns] = columns
  if (firstColumn === undefined) return null
  const all: ReadonlyArray<Column<Entry>> = [
    {
      ...firstColumn,
      cell: (item) => {
        const kind = kinds.get(keyOf(item))
        return (
          <Group gap="xs" wrap="nowrap">
            {firstColumn.cell(item)}
            {kind === undefined ? null : <KindBadge kind={kind} />}
          </Group>
        )
      }
    },
    ...otherColumns,
    ...(edit === null
      ? []
      : [
          {
            name: "actions",
            label: shell("actions"),
            isMenu: true,
            cell: (item: Entry) => (
              <Group gap={4} wrap="nowrap">
                <ActionIcon
                  variant="default"
                  aria-label={t("edit", { key: keyOf(item) })}
                  onClick={() => edit.onEdit(item)}
                >
                  <IconPencil size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="default"
                  aria-label={t("remove", { key: keyOf(item) })}
                  onClick={() => edit.onRemove(item)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            )
          }
        ])
  ]
  return (
    <RowTable
      label={t(`tabs.${list}`)}
      columns={all}
      rows={entriesOf(document, list).filter((item) => matchesText(item, find))}
      empty={t(`none.${list}`)}
    />
  )
}
