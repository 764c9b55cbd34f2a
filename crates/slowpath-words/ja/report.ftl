
## explain

explain-more = { "  " }ほか{ $more }件
explain-packets-taken = { $name }: { $format }({ $link_types })、{ $packets }パケット、{ $capture }、{ $duration_s }、取得位置は{ $tap }。
explain-acknowledged-bytes-missing = 確認応答されたデータの{ $capture_loss_fraction }がキャプチャにありません。
explain-transfers-all = 転送{ $said }件、計{ $delivered }: { $limits }。
explain-time-confidence = { $limit }、時間の{ $share }、確信度{ $confidence }
explain-in = { $bytes_delivered }を{ $data_s }で転送、{ $goodput_bit_per_s }
explain-in-open = (接続は{ $duration_s })
explain-then = 、次は`{ $l }`
explain-gives = { $change }で{ $outcome }{ $then }
explain-time-confidence-2 = { $limit }({ $value })、時間の{ $share }、確信度{ $confidence }
explain-undecided = { $limit }({ $value })
explain-gives-2 = { $change }で{ $outcome }{ $then }{ $because }
explain-packets = { $text }(パケット{ $packets })
explain-one-capture-cannot-show-them = { $untold }: 1つのキャプチャでは分からない
explain-to = { $from_s }〜{ $to_s }: { $limit }
explain-more-intervals = ほか{ $intervals }区間
explain-no-tcp-connection-with-data = このキャプチャに、データのあるTCP接続はありません。
explain-other-connections = その他の接続
explain-capture = キャプチャ
explain-v-gives-evidence-what-rejected = -vで、根拠、除外した制限要因とその理由、すべての値を表示します。
explain-one-connection = 1接続
explain-connections = { $count }接続
explain-seen = 取得位置は{ $tap }
explain-for-bytes = { $bytes }に
explain-limit = { "  " }制限要因{ "   " }
explain-transfer = { "  " }転送{ "       " }
explain-learn = { "  " }判定には{ "   " }
explain-capacity-exceeded = --capacity { $rate } は、{ $all } 本の接続のうち { $faster } 本(番号 { $first } など)には使いませんでした: その回線で運べる量より多く運んでいます。速度はイーサネットフレームで数えます
explain-would-help = { "  " }効果あり{ "   " }
explain-vain = { "  " }効果なし{ "   " }
explain-figures = { "  " }主な値{ "     " }
explain-ledger = { "  " }内訳{ "       " }
explain-learn-more = { "  " }判定には:{ " " }
explain-against = { "  " }反対の根拠{ " " }
explain-because = { "  " }根拠{ "       " }
explain-not = { "  " }除外{ "       " }
explain-untold = { "  " }判定不可{ "   " }
explain-when = { "  " }区間{ "       " }

## ledger

ledger-costs-instead = 時間の内訳: 同じデータ量で、{ $cause }の短縮余地が{ $instead }から{ $costs }に変化
ledger-holds-instead = 時間の内訳: 同じデータ量で、{ $cause }の時間が{ $instead }から{ $holds }に変化
ledger-link-instead = 時間の内訳: 同じデータ量で、回線自体の時間が{ $instead }から{ $takes }に変化
ledger-start-instead = 時間の内訳: 同じデータ量で、3ウェイハンドシェイクとスロースタートの時間が{ $instead }から{ $takes }に変化
ledger-payload = データで{ $rate }、{ $how }
ledger-link-itself = = { $floor } 回線自体({ $capacity })
ledger-held = { $mark } { $lost } { $cause }(制限していた{ $time }のうち): { $states }
ledger-without = { $cause } がなければ { $duration }(90 %: { $low } 〜 { $high })
ledger-link-itself-2 = = { $floor } 回線自体
ledger-link-and-start = = { $floor } 回線自体と開始({ $capacity })
ledger-link-and-start-2 = = { $floor } 回線自体と開始
ledger-at = 。{ $at }時点
ledger-events-costliest = 。{ $events }回、最大は{ $at }時点
ledger-as-told = 指定
ledger-as-measured = 実測
ledger-more = 以上

## terminal

terminal-what-would-tell = 判定には: { $next }。
terminal-what-would-tell-2 = { $variant }の判定には: { $next }。
terminal-run = { $repeat }回目: { $error }
terminal-prediction = 予測{ $outcome }({ $variant }):{ " " }
terminal-report = { "\u000A" }レポート: { $report }
terminal-notes-with-v-report = 注記(-vとレポートに表示): { $told }。
terminal-predictions-tested-v-says-which = 検証した予測{ $proofs }件: { $told }(-vで内容を表示)。
terminal-simulated-time-lab-follows = { $experiment }(シミュレーション時間)。続けてラボで実行します:
terminal-runs = { $all }回中、{ $parts }
terminal-run-2 = { $number }回目: { $text }
terminal-runs-such-as-run = { $all }回中{ $some }回、例えば{ $number }回目: { $text }
terminal-transfer-never-finished = 転送が完了しませんでした。
terminal-no-valid-run = 有効な実行がありません。
terminal-what-limited-cannot-told-here = 制限要因は、ここでは判定できません。
terminal-not-measured = 未測定
terminal-v-gives-all-reasons = (-vで全理由を表示)
terminal-f-model-parameter-fitted-figure = f = この値に合わせ込んだモデルで、根拠になりません
terminal-f-as-many-parameters-fitted = f! = 値と同数のパラメータを合わせ込んだもので、何も説明しません
terminal-p-predicted-by-model-fitted = p = 別の値に合わせ込んだモデルによる予測
terminal-simulated-time = ~ = シミュレーション時間
terminal-shortened-transfer = { "*" } = 短縮した転送
terminal-and = 、

## table

table-lab = ラボ { $lab }
table-published = 公表値 { $heading }
table-ci = { $is_simulated }、95%CI
table-more-v-send-less-than = ほか{ $folded }件(-vで表示、経路の能力より少なく送るものか公表値のないもの): { $names }
table-published-2 = 公表値{ $published }
table-ratio = 比{ $ratio }
table-lost = ロス{ $measured }
table-sent = 送信{ $measured }
table-to = { $mean } ({ $low }〜{ $high })
table-runs = { $mean } (実行{ $low }〜{ $high })
table-limited-by = 制限要因

## beside

beside-to = { $ratio } ({ $low }〜{ $high })
beside-one-run-side = { $ratio } (各1回)
beside-limited-by-lab-simulated-time = 制限要因はラボで{ $lab_limit }、シミュレーション時間で{ $simulated_limit }
beside-lost = ロス{ $value }
beside-sim-lab-ci = シミュレーション/ラボ、95%CI

## diagnosis

diagnosis-limited-by = { $rate }、制限要因{ $limit }
diagnosis-limited-by-shown = { $rate }、制限要因{ $shown }(変更を試した結果。キャプチャでは{ $limit })
diagnosis-change-left-limit = { "" }(変更してもこの制限はなくならない)
diagnosis-by-what-one-shows = 。予測は条件{ $variant }が示した経路による
diagnosis-by-what-several-show = 。予測はほかの条件{ $number }個が示した経路による
diagnosis-report = レポート: { $report }
diagnosis-least = { $low }以上
diagnosis-to = { $low }〜{ $high }
diagnosis-still = 変わらず{ $found }
diagnosis-then = 次は{ $found }
diagnosis-predicted-measured = { $change }: 予測{ $predicted }、実測{ $measured }。{ $then }{ $why }
diagnosis-changes-tested-predictions-held-refuted = 検証した変更{ $proofs }件: 予測の成立{ $held }、不成立{ $refuted }、判定保留{ $open }。
diagnosis-not-told = 不明
diagnosis-no-valid-run = 有効な実行なし
diagnosis-cost-more-than-captures-showed = (影響はキャプチャに現れたより大きい)
diagnosis-limit-did-not-show-before = (以前は現れなかった制限要因)
diagnosis-behind-link-another-one-hardly = (回線の先に、速さのほぼ同じ別の回線)
diagnosis-no-link-full = (満杯なのは回線ではない)
diagnosis-cost-less-than-captures-showed = (影響はキャプチャに現れたより小さい)
diagnosis-chance-may-have-done-repeats = (偶然かもしれない。--repeatsで判定可能)
diagnosis-prediction-too-wide-refuted = (予測の幅が広く、不成立にならない)
diagnosis-another-limit-than-predicted = (予測と異なる制限要因)
diagnosis-no-run-came-its-end = 完了した実行がなく、予測できません。
diagnosis-everything-sent-arrived-there-nothing = 送信したものはすべて届きました。経路で変更するものはありません。
diagnosis-transfer-too-short-change-path = 転送が短く、経路を変えても差が現れません。
diagnosis-what-limits-cannot-told-so = 制限要因を判定できないため、変更の予測もできません。
diagnosis-no-change-can-made-here = ここでできる変更には、この制限要因を検証するものがありません。
diagnosis-no-transfer-so-nothing-test = 転送がないため、検証するものがありません。

## label

label-valid = { $all }回中{ $invalid }回が有効
label-not-run = 未実行
label-simulated-time = (シミュレーション時間)

## unit


## compare-captures

compare-captures-second-transfer-times-against = 2番目の転送は{ $factor }倍{ $word }なっています({ $goodput2 }に対し{ $goodput })
compare-captures-both-transfers-about-equally-fast = 2つの転送の速さはほぼ同じです({ $goodput }と{ $goodput2 })
compare-captures-both-limited-by = 制限要因はどちらも{ $limits }
compare-captures-limited-by-first-by = 制限要因は{ $limits }、1番目は{ $limits2 }
compare-captures-receiver-offers-no-window-scaling = 受信側のウィンドウスケールの通知がなくなり(以前は{ $shift })、ウィンドウは65,535Bまで、このRTTでは{ $max }まで
compare-captures-receivers-largest-window-instead-most = 受信ウィンドウの最大値が{ $a }から{ $b }に減少、{ $most }まで
compare-captures-path-itself-longer-instead-whatever = 経路自体のRTTが{ $rtt_min_s2 }から{ $rtt_min_s }に増加。ウィンドウやロスによる制限は、その比以上に低速化
compare-captures-packets-wait-queue-instead = キューでの待ちが{ $max }から{ $queue }に増加
compare-captures-more-lost = セグメントのロスが{ $max }から{ $share }に増加
compare-captures-less-lost = セグメントのロスが{ $was }から{ $now }に減少
compare-captures-segments-lost-instead-about-cubic = セグメントのロスが{ $max }から{ $share }に増加、CUBICでは約{ $max2 }
compare-captures-not-agreed-on-any-more = { $name }は不使用に変化
compare-captures-segments-carry-instead = セグメントのデータが{ $sizes2 }から{ $sizes }に減少
compare-captures-data-carries-dscp-instead-some = データのDSCP値が{ $marks2 }から{ $marks }に変化。扱いが違う網もあるため、もう一方の値での転送で判定可能
compare-captures-because = { "  " }根拠{ "    " }
compare-captures-although = { "  " }ただし{ "  " }
compare-captures-nothing-explains = 。違いのなかに速さの差を説明するものはありません
compare-captures-window-scaling-now = 受信側がウィンドウスケールを新たに通知({ $shift })。1番目はウィンドウが65,535Bまで、そのRTTでは{ $max }まで
compare-captures-larger-window = 受信ウィンドウの最大値が{ $was }({ $most }まで)から{ $now }に増加
compare-captures-shorter-path = 経路自体のRTTが{ $was }から{ $now }に減少。ウィンドウやロスによる制限は、その比以上に高速化
compare-captures-shorter-queue = キューでの待ちが{ $was }から{ $now }に減少
compare-captures-larger-segments = セグメントのデータが{ $was }から{ $now }に増加
compare-captures-faster-link = 回線自体がデータで{ $was }から{ $now }に高速化
compare-captures-slower-link = 回線自体がデータで{ $was }から{ $now }に低速化
compare-captures-fewer-lost = セグメントのロスが{ $was }(CUBICでは約{ $most })から{ $now }に減少
compare-captures-agreed-now = { $name }は使用に変化
compare-captures-nothing-else-matters-differs = 。ほかに影響する違いはありません
compare-captures-round-trip-median = RTT(中央値)
compare-captures-round-trip-least = RTT(最短)
compare-captures-lost-on-way = 経路でのロス
compare-captures-largest-window = 最大ウィンドウ
compare-captures-round-trip = RTT
compare-captures-sent-again = 再送
compare-captures-these-vain = うち不要な再送
compare-captures-out-order = 順序入れ替わり
compare-captures-window-closed = ゼロウィンドウ

## compare-mod

compare-mod-against = { $mean2 }に対し{ $mean }
compare-mod-times-as-fast-as = { $a }に対し{ $b }は{ $ratio }倍の速さです: { $means }({ $c })。
compare-mod-goodput = { $a }に対し{ $b }は速さの{ $ratio }%です: { $means }({ $c })。
compare-mod-faster = { $a }より{ $b }は{ $abs }%速くなっています: { $means }({ $c })。
compare-mod-slower = { $a }より{ $b }は{ $abs }%遅くなっています: { $means }({ $c })。
compare-mod-no-difference-shown-between-difference = { $a }と{ $b }の差は判定できません: { $means }。平均の差は{ $unit }〜{ $unit2 }です({ $c })。
compare-mod-against-one-run-each-side = { $a }と{ $b }: { $means }。各1回では偶然と区別できません。--repeats 5なら判定できます。
compare-mod-no-test = 検定なし

## facts

facts-least-median = 最短{ $min }、中央値{ $median }、95パーセンタイル{ $p95 }
facts-handshake-later-ones-cannot-seen = 3ウェイハンドシェイクで{ $handshake }。以後はここでは見えない
facts-inferred = { $s }(推定)
facts-sender-data = データの送信側
facts-receiver-data = データの受信側
facts-between-sender-receiver = 送信側と受信側の間
facts-cannot-told-where = 不明
facts-segment-size = MSS
facts-window-scale = ウィンドウスケール
facts-classic-rfc = 従来型(RFC 3168)
facts-accurate-rfc = 高精度(RFC 9768)
facts-round-trip = RTT
facts-sent-again = 再送
facts-these-vain = うち不要な再送
facts-out-order = 順序入れ替わり
facts-window-closed = ゼロウィンドウ
facts-cannot-seen-here = ここでは見えない
facts-handshake-not-capture = 3ウェイハンドシェイクなし
facts-not-seen = 不明
facts-least = 下限{ " " }
facts-about = 約{ " " }
facts-queueing-delay = キュー遅延
facts-flight = 未ACKデータ
facts-reader-takes = 受信側の読み出し
facts-time = 1回に
facts-sender-gives = 送信側の供給

## label

label-derived = 算出: { $formula }。
label-fitted = 合わせ込んだ値: { $fitted }。
label-curve-fitting-explains-nothing-parameter = 合わせ込みのみで、何も説明しません: 値{ $figures }個にパラメータ{ $parameters }個。
label-missed = 不一致: { $reason }

## explain

explain-about = 約{ $rate }
explain-about-between = 約{ $rate }（{ $least }〜{ $most }）
explain-most = 最大{ $most }
explain-gain-cannot-told = 効果は不明

## gain

gain-against = { $mean2 }に対し{ $mean }
gain-the = { $noun }
gain-outage = 通信断
gain-short-queue = この経路には短すぎるキュー
gain-least = { $low }以上
gain-to = { $low }〜{ $high }

## range


## flows

flows-instead = { $goodput_byte_per_s }({ $goodput_byte_per_s2 }の代わり)

## results-compared

results-compared-loses-instead = { $flow }のロスは{ $flow3 }から{ $flow2 }
results-compared-against-all-together-get-instead = { $a }に対して{ $b }: { $parts }。合計は{ $mean2 }から{ $mean }です。

## results-figure

results-figure-declared-as-missed-holds-again = { $name }は不一致と宣言されていますが、一致しています。宣言を外してください({ $reason })
results-figure-published-figure-accepted = { $name }は公表値の{ $ratio }倍です(許容は{ $percent }%)
results-figure-not-measured = { $name }は測定されていません

## compare-folders

compare-folders-only = { $v }({ $letter }のみ)
compare-folders-b-comparison-may-mean-little = Aは{ $experiments }、Bは{ $experiments2 }で、比較の意味は限られます。
compare-folders-limited-by-b = { $longest } { $right } { $right2 }  { $right3 }  制限要因(A、B)
compare-folders-in-a = Aの{ $a }
compare-folders-b = Bの{ $b }
compare-folders-same = { $name }: どちらも{ $rate }。
compare-folders-once = { $name }: Aの{ $before }に対しBは{ $now }。
compare-folders-chance = 片側が1回だけでは、差が偶然かどうか分かりません。--repeats 5の実行なら分かります。
compare-folders-no-valid-run-on-one = { $a }: 一方に有効な実行がなく、比較できません。
compare-folders-limit-changed-from = 制限要因は{ $x }から{ $y }に変わりました。
terminal-figure = { $whose }{ $name }: { $found }({ $origin }{ $wanted })
ledger-others = { $mark } { $sum } その他
ledger-time-went = { "  " }時間の内訳{ " " }
terminal-outcome = { $outcome }{ $number }件

## reproduce

reproduce-answer = 再現した転送は{ $reproduced }で、キャプチャの{ $captured }に対し{ $off }です。制限要因が同じ結果は{ $runs }回中{ $same }回です。
reproduce-nothing = 信頼できる結果がなく、再現できませんでした。
reproduce-unexplained = この転送をよく説明するモデルはありませんでした。再現したのは別の転送です。
reproduce-beginning = 転送の先頭、データの{ $share }だけを対象に求めて比べています。
reproduce-unjudged = 除外: { $why }。
reproduce-disturbed = { $runs }回中{ $count }回はマシンの影響を受けました: { $why }
reproduce-apart = 同じ軸に重ねた曲線の差(二乗平均平方根、最も離れた回)は、時間とシーケンスで所要時間の{ $sequence }、転送速度で平均の{ $rate }、RTTで{ $trip }です。
reproduce-duration = 所要時間
reproduce-goodput = 転送速度
reproduce-trip = RTT(中央値)
reproduce-resent = 再送セグメント
reproduce-episodes = ロスの発生回数
reproduce-limit = 制限要因
reproduce-captured = キャプチャ
reproduce-reproduced = 再現

## Many captures in one table.

many-all = キャプチャ{ $captures }個、転送{ $transfers }件、計{ $delivered }: { $limits }。
many-none = キャプチャ{ $captures }個に、転送はありません。
many-folder = すべて{ $folder }にあります
many-heading = 転送: 回線に比べた短縮余地の大きい順
many-at-most = 「< 1 s」は最大でもそれだけ。回線自体の速度が現れていないため。
many-lost = 短縮余地
many-duration = 所要時間
many-bytes = データ
many-goodput = 転送速度
many-limit = 制限要因
many-narrow = { $limit }: { $duration }のうち短縮余地{ $lost }、{ $delivered }、{ $goodput }
many-more = ほか{ $more }件は短縮余地がより小さい転送(-vで表示)
many-captures = キャプチャ
many-unread = { $file }: 読めません: { $error }
many-note = { $file }: { $note }
many-empty = { $file }: データのあるTCP接続はありません
many-joined = 1つの記録の{ $count }個のファイルを1つとして読みました: { $first }〜{ $last }
many-more-captures = ほか{ $more }件(-vですべて表示)

## A capture that is still being written.

follow-line = { $duration }、{ $packets }パケット、{ $rate }: { $limit } { $flow }
