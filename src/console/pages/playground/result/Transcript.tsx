import { Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { SaveButton } from "./SaveButton.tsx"
import type { WholeAnswer } from "./wholeAnswer.ts"

type Props = Omit<Extract<WholeAnswer, { readonly kind: "transcript" }>, "kind">

/** The text of a recording, which can be saved in the ordered format. */
export const Transcript = ({ text, file, name }: Props) => {
  const { t } = useTranslation("playground")
  return (
    <>
      <Text className="said" role="group" aria-label={t("transcript")}>
        {text}
      </Text>
      <SaveButton file={file} name={name} />
    </>
  )
}
