import { Table } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { RankedDocument } from "./wholeAnswer.ts"

/** The documents of a ranking with their scores, the best first. */
export const RankingTable = ({ ranking }: { readonly ranking: ReadonlyArray<RankedDocument> }) => {
  const { t } = useTranslation("playground")
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table aria-label={t("ranking")} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t("rank")}</Table.Th>
            <Table.Th scope="col">{t("rankedDocument")}</Table.Th>
            <Table.Th scope="col" ta="right">
              {t("score")}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ranking.map(({ text, score }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a result is identified by its rank
            <Table.Tr key={index}>
              <Table.Td>{index + 1}</Table.Td>
              <Table.Td className="said">{text}</Table.Td>
              <Table.Td ta="right">{score}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
