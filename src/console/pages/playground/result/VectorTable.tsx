import { Code, Table } from "@mantine/core"
import { useTranslation } from "react-i18next"

const MAX_VALUES = 6

/** The first values of each vector of an embedding model. */
export const VectorTable = ({
  vectors
}: {
  readonly vectors: ReadonlyArray<ReadonlyArray<number>>
}) => {
  const { t } = useTranslation("playground")
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table aria-label={t("vectors")} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t("vectorText")}</Table.Th>
            <Table.Th scope="col">{t("vectorLength")}</Table.Th>
            <Table.Th scope="col">{t("vectorValues")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {vectors.map((vector, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a vector is identified by its position
            <Table.Tr key={index}>
              <Table.Td>{index + 1}</Table.Td>
              <Table.Td>{vector.length}</Table.Td>
              <Table.Td>
                <Code>
                  {vector.slice(0, MAX_VALUES).join(", ")}
                  {vector.length > MAX_VALUES ? ", …" : ""}
                </Code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
