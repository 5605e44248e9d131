/** The response of a text model while it streams, or the vectors of an embedding model. */
import { Button, Card, Code, Group, Loader, Stack, Table, Text, Title } from "@mantine/core"
import { IconPlayerStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { TextReceipt } from "./ReceiptCard.tsx"
import type { Answer } from "./usePlaceOrder.ts"

const MAX_VALUES = 6

const Vectors = ({ vectors }: { readonly vectors: ReadonlyArray<ReadonlyArray<number>> }) => {
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

interface Props {
  readonly answer: Answer
  readonly onStop: () => void
  /** Continues the conversation; not offered while the response is incomplete. */
  readonly onReply: (text: string) => void
}

export const TextResult = ({ answer, onStop, onReply }: Props) => {
  const { t } = useTranslation("playground")
  const state = answer.kind === "vectors" ? "ended" : answer.state
  return (
    <Stack>
      <Card withBorder component="section" aria-label={t("result")}>
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={2} size="h4">
              {t(`textStates.${state}`)}
            </Title>
            {state === "writing" ? (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconPlayerStop size={14} />}
                onClick={onStop}
              >
                {t("stop")}
              </Button>
            ) : null}
          </Group>
          {answer.kind === "vectors" ? (
            <Vectors vectors={answer.vectors} />
          ) : (
            <>
              <Text className="said" role="log" aria-label={t("answer")}>
                {answer.output.text}
              </Text>
              {state === "writing" ? <Loader size="xs" type="dots" /> : null}
              {state === "stopped" ? (
                <Text size="sm" c="dimmed">
                  {t("stoppedNote")}
                </Text>
              ) : null}
              {state === "ended" ? (
                <Group>
                  <Button size="xs" variant="default" onClick={() => onReply(answer.output.text)}>
                    {t("reply")}
                  </Button>
                </Group>
              ) : null}
            </>
          )}
        </Stack>
      </Card>
      {state === "writing" ? null : <TextReceipt trace={answer.trace} />}
    </Stack>
  )
}
