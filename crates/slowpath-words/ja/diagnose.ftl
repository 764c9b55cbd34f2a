### Changes and what they would gain.


## What a change makes of the transfer, as a noun.

change_window = 受信ウィンドウ{ $window }B
change_send-buffer = 送信バッファ{ $buffer }B
change_reader = 途切れずに読む受信側のアプリケーション
change_writer = 途切れずに供給する送信側のアプリケーション
change_no-loss = 経路自体のロスなし
change_no-policer = ポリサーなし
change_no-device-limit = 経路上の機器の処理能力の制限なし
change_streams = 同時に{ $count }接続
change_control = 送信側の輻輳制御の{ $control }への変更
change_rate = ボトルネックの速度{ $percent }%
change_queue = ボトルネックのキュー{ $queue }B以上
change_no-mark = OpenSSHのDSCP値なし(IPQoS none)
change_remark = 最初のルータで全DSCP値を消去
change_other = { $words }

## Why a rate is predicted.

because_window = { $rtt }ごとにウィンドウ{ $window }B
because_flight = { $rtt }ごとに未ACKデータ{ $flight }B
because_reader = 受信側のアプリケーションが読むのは{ $rate }
because_reader-whatever = ウィンドウにかかわらず、受信側のアプリケーションが読むのは{ $rate }
because_reader-waits = ウィンドウにかかわらず、受信側のアプリケーションが読むのは{ $rate }。データ待ちは{ $step }Bごとに最大{ $wait }で、短縮できるのはその分だけ
because_source = 送信側のアプリケーションの供給は{ $rate }
because_fills = ボトルネックを使い切り、データで{ $rate }
because_carries = ボトルネックが運べるのはデータで{ $rate }
because_policer = ポリサーが通すのはデータで{ $rate }
because_loss = { $rtt }で{ $segments }セグメントに1個がロス
because_untreated = DSCP値で区別されない転送は、この経路で{ $rate }
because_unbounded = 変更後の転送を制限するものは見つからない
because_start = { $because }。ただし、そこに達するまでに{ $size }B
because_same = 今の制限要因は不変: { $because }
because_beyond = { $because }。経路自体の能力は分からず、先に制限するかもしれない
because_given-back = 取り除かれる分は時間の{ $share }
because_waits-shared = 要求と接続の開始が時間の{ $share }を占め、接続を増やせば分担できる
because_link-shrinks = 回線が時間の{ $share }を占め、その分が縮む
because_overflows = 短すぎるキューの溢れからの回復が時間の{ $share }を占める。回線の速度は観測できていない
because_drops-bursts = 短すぎるキューが超過分を廃棄し、残るのはデータで{ $rate }
because_offered = 送信は{ $rate }まで
because_arrives = { $rate }を超える分を廃棄するものは残る
because_until-channel = { $because }。その後はSSHのチャネルウィンドウが{ $rate }で頭打ちにする
because_until-window = { $because }。その後は受信ウィンドウが{ $rate }で頭打ちにする
because_queue = { $because }。バッファを大きくしても、満杯のキューが伸びるだけ

## investigation

investigation-cannot-tried-here = { $change }は、ここでは試せません。
investigation-there-no-change-would-test = 制限要因{ $limit }を検証できる変更がありません。
investigation-network-treats-packets-mark-how = パケットのDSCP値だけ網での扱いが違い、それが{ $limit }として現れます。{ $words }で解消します。
investigation-limit-removes = 制限要因は{ $limit }で、{ $words }で解消します。
investigation-limit-leaves-place = 制限要因は{ $limit }で、{ $words }では解消しません。
investigation-to = { $low }〜{ $high }
investigation-least = { $low }以上
investigation-no-gain-then = { $change }: 予測では実質的な効果なし({ $most }%、{ $range })、次の制限要因は{ $next }。理由: { $because }。
investigation-no-gain = { $change }: 予測では実質的な効果なし({ $most }%、{ $range })。理由: { $because }。
investigation-predicted-then = { $change }: 予測は{ $range }、次の制限要因は{ $next }。理由: { $because }。
investigation-predicted = { $change }: 予測は{ $range }。理由: { $because }。
investigation-no-valid-run-came = 有効な実行がありませんでした。
investigation-got-no-difference = { $rate }(差は判定できず)
investigation-got-times = { $rate }({ $ratio }倍)
investigation-got-percent = { $rate }({ $percent }%)
investigation-mb-s = { $value }MB/s
investigation-kb-s = { $value }kB/s
investigation-no-valid-run-base-with = 読めるキャプチャのある有効な実行がなく、何も検証できません。
investigation-rests-on = この予測は、{ $names }の転送が示した経路に基づきます。
investigation-gave = 結果は{ $got }でした。
investigation-against-gave = 予測に反し、結果は{ $got }でした。
investigation-range-too-wide-decide-anything = 予測の幅が広すぎて判定できません。結果は{ $got }でした。
investigation-then-another-limit-held-than = 予測と異なる制限要因になりました。結果は{ $got }でした。
investigation-more-runs-needed-gave = 回数が足りません。結果は{ $got }でした。
