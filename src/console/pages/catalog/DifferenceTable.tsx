/** The differences between two catalogs, by entry and field. */
import { Badge, Group, Stack, Table, Text } from "@mantine/core"
import { IconMinus, IconPencil, IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { EntryDifference, FieldDifference } from "./draft/catalogDifference.ts"

const icons = { added: IconPlus, changed: IconPencil, removed: IconMinus } as const

export const KindBadge = ({ kind }: { readonly kind: EntryDifference["kind"] }) => {
  const { t } = useTranslation("catalog")
  const Icon = icons[kind]
  return (
    <Badge className="state" variant="default" tt="none" leftSection={<Icon size={12} />}>
      {t(`kinds.${kind}`)}
    </Badge>
  )
}

const Value = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? (
    <Text size="sm" c="dimmed" component="span">
      –
    </Text>
  ) : (
    <span className="said">{text}</span>
  )

const Field = ({
  field,
  isAdded
}: {
  readonly field: FieldDifference
  readonly isAdded: boolean
}) => {
  const { t } = useTranslation("catalog")
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        <span className="id">{field.path}</span>
      </Table.Th>
      {isAdded ? null : (
        <Table.Td>
          <Value text={field.before} />
        </Table.Td>
      )}
      <Table.Td>
        {field.isSecret ? (
          <Text size="sm" fs="italic">
            {t("review.newKey")}
          </Text>
        ) : (
          <Value text={field.after} />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const EntryPart = ({ difference }: { readonly difference: EntryDifference }) => {
  const { t } = useTranslation("catalog")
  const { list, key, kind, fields } = difference
  const isAdded = kind === "added"
  const name = t(`editTitle.${list}`, { key })
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600} className="said">
          {name}
        </Text>
        <KindBadge kind={kind} />
      </Group>
      {kind === "removed" ? null : (
        <Table.ScrollContainer
          minWidth={360}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": name } }}
        >
          <Table aria-label={name} withTableBorder layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t("review.field")}</Table.Th>
                {isAdded ? null : <Table.Th scope="col">{t("review.before")}</Table.Th>}
                <Table.Th scope="col">{t("review.after")}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map((field) => (
                <Field key={field.path} field={field} isAdded={isAdded} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

export const DifferenceTable = ({
  differences
}: {
  readonly differences: ReadonlyArray<EntryDifference>
}) => (
  <Stack>
    {differences.map((difference) => (
      <EntryPart key={`${difference.list} ${difference.key}`} difference={difference} />
    ))}
  </Stack>
)
