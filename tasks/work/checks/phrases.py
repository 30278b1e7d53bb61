"""What models say to their users instead of what stands on a page: phrases in the languages of the users."""

import re

# Every quantifier has an end: these run over text that a model made up.
_REFUSALS = (
    # English
    r"\bI(?:'m|’m| am) (?:very |so |really )?(?:sorry|unable|not able|afraid)\b",
    (
        r"\bI (?:cannot|can(?:'|’)?t|could(?:n'|n’| no)t|am not able to|do(?:n'|n’| no)t have the ability to)"
        r" (?:\w+ ){0,3}(?:read|see|view|transcribe|extract|provide|help|assist|process|access"
        r"|identify|recogni[sz]e"
        r"|open|display|discern|make out|analy[sz]e|fulfil|comply)"
    ),
    (
        r"\b(?:sorry|apologi[sz]e|apologies|unfortunately)[^.\n]{0,60}\b(?:image|picture|photo|scan"
        r"|transcri|unable)"
    ),
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model|text-based|vision)\b",
    (
        r"\b(?:image|picture|photo|scan|page|document)(?: you(?:'ve| have)? (?:\w+ ){0,2}\w+)? "
        r"(?:provided |attached |uploaded |shown )?(?:appears|seems|is|looks)(?: to be)?"
        r"(?: (?:too|completely|entirely|mostly|very|just|quite|a)){0,2} "
        r"(?:blank|empty|blurry|blurred|illegible|unreadable|unclear|corrupted|low[- ]resolution|too dark)"
    ),
    (
        r"\b(?:no|not any|any) (?:visible |readable |legible |discernible |recogni[sz]able |actual ){0,3}"
        r"(?:text|words|content|writing)(?: content)? "
        r"(?:is |was |are |were |could be |can be |that )?(?:visible|present|found|detected|available"
        r"|provided|in (?:this|the) (?:image|picture|photo)|to (?:extract|transcribe|read))"
    ),
    (
        r"\b(?:please|could you|can you|kindly) (?:re-?)?(?:upload|provide|share|send|attach|supply"
        r"|try)\b[^.\n]{0,30}"
        r"\b(?:image|picture|photo|scan|clearer|resolution)"
    ),
    (
        r"\b(?:unable|impossible|not possible) to (?:\w+ ){0,2}(?:read|transcribe|extract|process"
        r"|recogni[sz]e)"
    ),
    r"\bI (?:do(?:n'|n’| no)t|can(?:'|’)?t|cannot) see (?:any|an|the) (?:image|picture|text|attach|file)",
    r"\b(?:do|does|did)(?: not|n(?:'|’)t) (?:appear to |seem to )?(?:contain|have|include|show) any",
    (
        r"\b(?:text|image|page|content|writing) (?:is|are|was|can(?:not|(?:'|’)t)|could) (?:not )?"
        r"(?:be )?(?:legible|readable|visible|read|determined|recogni[sz]ed|transcribed|deciphered)\b"
    ),
    r"\b(?:violates?|against) (?:our|my) (?:\w+ ){0,2}(?:polic(?:y|ies)|guidelines)",
    r"\bno (?:image|picture|photo|document|file|scan) (?:(?:was|is|has been) )?(?:attached|uploaded)",
    r"\b(?:too \w+|not \w+ enough) for me to (?:\w+ )?(?:read|see|make out|transcribe|decipher)",
    # Chinese
    r"(?:抱歉|对不起|不好意思|很遗憾)[^。\n]{0,30}(?:无法|不能|没有|看不)",
    r"(?:我|作为)[^。\n]{0,12}(?:无法|不能|没办法)[^。\n]{0,12}(?:识别|读取|查看|提取|转录|处理|看到|提供|访问)",
    r"作为(?:一个|一名|一款)?(?:AI|人工智能|大?语言模型|大模型)",
    (
        r"(?:图片|图像|图中|照片|页面)[^。\n]{0,12}(?:没有|无|不含|未包含|未检测到|不包含|空白|模糊)[^。\n]{0,12}"
        r"(?:文字|文本|内容|不清|无法|的)"
    ),
    r"请(?:您|你)?(?:重新)?(?:上传|提供|发送|补充)[^。\n]{0,14}(?:图片|图像|照片|文件|清晰)",
    # German
    (
        r"(?:tut mir (?:wirklich )?leid|entschuldig\w*|leider)[^.\n]{0,60}(?:bild|text|kann ich"
        r"|ich kann|lesen|erkennen)"
    ),
    (
        r"\bich (?:kann|konnte|bin)[^.\n]{0,50}(?:nicht (?:lesen|erkennen|transkribieren|anzeigen"
        r"|verarbeiten|in der lage)"
        r"|keinen text|nicht lesbar)"
    ),
    r"\bals (?:eine? )?(?:KI|künstliche intelligenz|sprachmodell)",
    r"\b(?:bild|seite|scan) (?:enthält|zeigt) keinen (?:\w+ )?text",
    # French
    r"(?:désolée?|malheureusement|navrée?)[^.\n]{0,60}(?:image|texte|je ne|pas)",
    r"\bje ne (?:peux|parviens|suis)[^.\n]{0,30}(?:lire|transcrire|extraire|voir|traiter|capable|mesure)",
    r"\ben tant qu(?:'|’)(?:IA\b|intelligence artificielle|assistant|un modèle)",
    r"\bl(?:'|’)image (?:ne contient|est (?:vide|vierge|illisible|floue|trop))",
    # Spanish, Italian, Portuguese
    (
        r"\b(?:lo siento|lamento|mi dispiace|desculpe|lamentavelmente|lamentablemente|purtroppo|infelizmente)"
        r"[^.\n]{0,60}(?:im[aá]gen|immagine|imagem|texto|testo|no puedo|non posso|não (?:posso|consigo))"
    ),
    (
        r"\b(?:no puedo|non posso|não posso|não consigo)[^.\n]{0,30}"
        r"(?:leer|leggere|ler|transcri|trascri|extraer|estrarre|extrair|ver|procesar|processar)"
    ),
    (
        r"\b(?:no se puede|non si può|não é possível|non è possibile) (?:\w+ )?"
        r"(?:leer|leggere|ler|transcribir|trascrivere|transcrever|extraer|estrarre|extrair|reconocer)"
    ),
    r"\bcomo (?:una? )?(?:IA\b|modelo de lengua|inteligencia artificial)",
    (
        r"\b(?:la imagen|l(?:'|’)immagine|a imagem) (?:no contiene|non contiene|não contém|está"
        r"|è) ?(?:en blanco|vac|borr|vuot)?"
    ),
    # Japanese, Korean, Russian, Arabic
    r"(?:申し訳|すみません|残念)[^。\n]{0,40}(?:画像|読み取|でき|テキスト|文字)",
    r"画像[^。\n]{0,14}(?:文字|テキスト)[^。\n]{0,14}(?:ありません|含まれて|見当たり|検出|読み取)",
    r"(?:죄송|미안)[^\n]{0,40}(?:이미지|텍스트|읽|없)",
    r"(?:이미지|사진|문서)[^\n]{0,20}(?:텍스트|글자|내용)[^\n]{0,14}(?:없|못)",
    r"(?:извините|простите|к сожалению)[^.\n]{0,60}(?:не могу|изображени|текст)",
    r"на изображении (?:нет|отсутствует|не)",
    r"(?:عذر|آسف|للأسف)[^.\n]{0,50}(?:صورة|نص|لا أستطيع|لا يمكن)",
)
_REMARKS = (
    r"\A\W{0,3}(?:sure|certainly|of course|absolutely|okay|ok)\b[^\n]{0,20}[,.!:]",
    (
        r"\A\W{0,3}(?:here(?:'s|’s| is| are)|below is|the following is)\s[^\n]{0,60}"
        r"(?:transcri|extract|ocr|markdown|html|conver|text (?:from|of|in|content)|content of)"
    ),
    (
        r"\A\W{0,3}(?:the|this) (?:image|picture|photo|page|document|scan)(?: you provided)? "
        r"(?:shows|depicts|contains|displays|features|presents|appears|is a)\b"
    ),
    r"\bwould you like me to\b|\blet me know if you(?:'d|’d| would) like me to\b",
    (
        r"\bI hope this (?:helps|transcription|is helpful)|\bif you need (?:any )?(?:further"
        r"|more) (?:help with|analysis)"
    ),
    r"\A\W{0,3}(?:以下是|下面是|这是)[^。\n]{0,14}(?:文字|文本|内容|识别|转录|OCR|结果|提取)",
    r"\A\W{0,3}(?:好的|当然)[,，。!！]|(?:希望|如果)[^。\n]{0,10}(?:帮助|需要我)",
    r"\A\W{0,3}(?:这张|该|这个|此)(?:图片|图像|照片|页面)(?:显示|展示|是|包含|中)",
    r"\A\W{0,3}(?:hier ist|natürlich|gerne)[^\n]{0,30}(?:text|transkription|bild|extrah|inhalt)",
    (
        r"\A\W{0,3}(?:voici|bien sûr|aquí (?:está|tienes)|ecco|aqui está|claro)[^\n]{0,30}"
        r"(?:texte?o?|transcri|trascri|contenu|contenido|conteúdo|extra)"
    ),
    (
        r"\A\W{0,3}(?:das|dieses|l(?:'|’)|cette|esta|questa) ?(?:bild|image|imagen|immagine) "
        r"(?:zeigt|montre|muestra|mostra)"
    ),
    r"\A\W{0,3}(?:以下は|こちらは|はい、)[^。\n]{0,20}(?:テキスト|文字|内容|書き起こし)",
    r"\A\W{0,3}(?:вот|конечно)[^\n]{0,30}(?:текст|транскрип|содержим|извлеч)",
)
# Every phrase above that may begin anywhere holds one of these; most pages hold none, and finding that out
# takes a hundredth of the time. In small letters.
_CLUES = (
    *("sorry", "unable", "not able", "afraid", "i can", "i could", "the ability", "apolog", "unfortunately"),
    *("a ai", "an ai", "artificial intel", "language model", "text-based", "a vision", "an vision", "blank"),
    *("empty", "blurr", "illegible", "unreadable", "unclear", "corrupted", "resolution", "too dark"),
    *("no text", "any text", "no words", "any words", "no content", "any content", "no writing"),
    *("any writing", "visible", "readable", "legible", "discernible", "recogni", "actual ", "please"),
    *("could you", "can you", "kindly", "impossible", "not possible", "i don", "i do not", "contain any"),
    *(
        "have any",
        "include any",
        "show any",
        "t read",
        "is read",
        "are read",
        "was read",
        "be read",
        "could read",
        "determined",
        "transcribed",
        "deciphered",
        "violate",
    ),
    *("against our", "against my", "attached", "uploaded", "for me to"),
    *("抱歉", "对不起", "不好意思", "很遗憾", "无法", "不能", "没办法", "作为", "图", "照片", "页面", "请"),
    *("leid", "entschuldig", "ich kann", "ich konnte", "ich bin", " ki", "künstliche intel", "sprachmodell"),
    *("keinen", "désol", "malheureusement", "navré", "je ne ", "en tant qu", "image ne ", "image est"),
    *("lo siento", "lament", "mi dispiace", "desculpe", "purtroppo", "infelizmente", "no puedo", "non posso"),
    *("não posso", "não consigo", "no se puede", "non si può", "não é possível", "non è possibile", " ia"),
    *("modelo de lengua", "inteligencia art", "imagen", "immagine", "imagem"),
    *("申し訳", "すみません", "残念", "画像", "죄송", "미안", "이미지", "사진", "문서"),
    *("извините", "простите", "к сожалению", "на изображении", "عذر", "آسف", "للأسف"),
    *("would you like me", "let me know", "i hope this", "if you need", "希望", "如果"),
)

_PICTURES = (
    r"image|picture|photo|\bscan|transcri|\bocr\b|handwriting|attach|\bfile\b"
    r"|\b(?:this|the|an?) (?:\w+ )?(?:page|document|text)|\b(?:any|no) text|图片|图像|照片|识别|文字|画像"
    r"|テキスト"
    r"|\bbild|\btext|imagen|immagine|imagem|texto|testo|이미지|텍스트|изображени|текст|صورة|نص"
)
_NEGATIONS = (
    r"\b(?:not|no|none|cannot|nothing|unable|too|only|empty|blank|poor|again|never)\b|n(?:'|’)t\b"
    r"|无法|不能|没有|不|未|空白|ません|なし|ない"
    r"|\b(?:kein\w*|nicht|zu|ne|pas|aucune?|vide|non|não|sem|vac\w+)\b"
    r"|없|못|\b(?:не|нет)\b|لا\b|لم\b"
)

REFUSAL = re.compile("|".join(_REFUSALS), re.IGNORECASE)
"""The model says that it will not or cannot read."""
REMARK = re.compile("|".join(_REMARKS), re.IGNORECASE)
r"""The model speaks to the user before or after it reads. `\A` is the start of what is searched."""
PICTURES = re.compile(_PICTURES, re.IGNORECASE)
"""Words for a picture and its text: a page rarely speaks of them."""
NEGATIONS = re.compile(_NEGATIONS, re.IGNORECASE)


def holds_clue(text: str) -> bool:
    """False where no refusal stands in `text`, and no remark but at its start."""
    # As patterns that ignore case see it, to which a Turkish i is one with or without its dot.
    folded = text.casefold().replace("\u0131", "i").replace("\u0307", "")
    return any(clue in folded for clue in _CLUES)
