### 引数の誤り。英語はコマンドラインのライブラリのものです。

parse-unknown = slowpath: { $argument }というオプションはありません。`slowpath --help`で確認してください。
parse-no-value = slowpath: { $argument }に値がありません。値を指定してください。
parse-value = slowpath: { $argument }に"{ $value }"は指定できません。
parse-refused = slowpath: { $argument }に"{ $value }"は指定できません: { $why }
parse-missing = slowpath: 必要な引数がありません: { $argument }。指定してください。
parse-conflict = slowpath: { $argument }と{ $other }は同時に指定できません。どちらかを外してください。
parse-too-many = slowpath: { $argument }の値"{ $value }"が余分です。外してください。
parse-meant = { $meant }ではありませんか?
parse-possible = 指定できる値: { $values }
