/** The answer of an order that is no task, which a chat shows while it is written. */
import { Button, Card, Group, Loader, Stack, Text, Title } from "@mantine/core"
import { IconPlayerStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { RankingTable } from "./RankingTable.tsx"
import { AnswerReceipt } from "./ReceiptCard.tsx"
import { SoundPlayer } from "./SoundPlayer.tsx"
import { Transcript } from "./Transcript.tsx"
import type { Answer } from "./usePlaceOrder.ts"
import { VectorTable } from "./VectorTable.tsx"

interface ContentProps {
  readonly answer: Answer
  /** Continues the conversation; not offered while the response is incomplete. */
  readonly onReply: (text: string) => void
}

type ChatProps = Omit<ContentProps, "answer"> & {
  readonly answer: Extract<Answer, { readonly kind: "text" }>
}

const ChatText = ({ answer: { output, state }, onReply }: ChatProps) => {
  const { t } = useTranslation("playground")
  return (
    <>
      <Text className="said" role="log" aria-label={t("answer")}>
        {output.text}
      </Text>
      {state === "writing" ? <Loader size="xs" type="dots" /> : null}
      {state === "stopped" ? (
        <Text size="sm" c="dimmed">
          {t("stoppedNote")}
        </Text>
      ) : null}
      {state === "ended" ? (
        <Group>
          <Button size="xs" variant="default" onClick={() => onReply(output.text)}>
            {t("reply")}
          </Button>
        </Group>
      ) : null}
    </>
  )
}

const Content = ({ answer, onReply }: ContentProps) => {
  switch (answer.kind) {
    case "text":
      return <ChatText answer={answer} onReply={onReply} />
    case "vectors":
      return <VectorTable vectors={answer.vectors} />
    case "ranking":
      return <RankingTable ranking={answer.ranking} />
    case "sound":
      return <SoundPlayer sound={answer.sound} name={answer.name} />
    case "transcript":
      return <Transcript text={answer.text} file={answer.file} name={answer.name} />
  }
}

interface Props extends ContentProps {
  readonly onStop: () => void
}

export const AnswerResult = ({ answer, onStop, onReply }: Props) => {
  const { t } = useTranslation("playground")
  const state = answer.kind === "text" ? answer.state : "ended"
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
          <Content answer={answer} onReply={onReply} />
        </Stack>
      </Card>
      {state === "writing" ? null : <AnswerReceipt trace={answer.trace} />}
    </Stack>
  )
}
