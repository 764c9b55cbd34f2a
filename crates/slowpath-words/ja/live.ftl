
## why-words

why-words-receivers-window-limits-transfer-each = 受信ウィンドウが制限要因です。RTT { $rtt }ごとに{ $window_bytes }です({ $share }の時間)。
why-words-program-here-does-not-read = このマシンのアプリケーションが、届いたデータを読みません。平均{ $unread_bytes }が未読です({ $share }の時間)。
why-words-receiving-program-slow-takes-its = 受信側のアプリケーションが遅く、{ $rate }でしか読まず、ウィンドウが縮みます({ $share }の時間)。
why-words-sending-program-slow-provides-connection = 送信側のアプリケーションの供給が{ $rate }しかなく、接続が待っています({ $share }の時間)。
why-words-processor-here-limit-program-computes = このマシンのCPUが制限要因です。アプリケーションが計算中か計算待ちで、供給は{ $rate }です({ $share }の時間)。
why-words-send-buffer-limits-transfer-flight = 送信バッファが制限要因です。RTT { $rtt }ごとに未ACKデータ{ $flight_bytes }です({ $share }の時間)。
why-words-programs-wait-each-other-flight = アプリケーションが互いに待っています。RTT { $rtt }ごとに未ACKデータ{ $flight_bytes }を送り、相手の応答まで止まります({ $share }の時間)。
why-words-path-full-get-through-packets = { $share }の時間は経路が制限し、回線を使い切っています。{ $rate }が通り、パケットはキューで{ $max }待ちます。
why-words-path-full-shared-with-others = 回線を他と共有して使い切り、この転送に残るのは{ $rate }です。
why-words-something-on-path-drops-what = 経路上で、約{ $rate_at_loss }を超える分がキューなしに廃棄されています({ $share }の時間)。
why-words-losses-transfer-does-not-cause = この転送が原因ではないロスで遅くなっています。速度にかかわらず、セグメントの{ $max }を再送しました({ $share }の時間)。
why-words-earlier-marks-congestion = 観測前に付いたECNマークで遅くなっています。{ $marked }セグメントに付き、輻輳ウィンドウはまだ回復の途中です({ $share }の時間)。
why-words-marks-congestion-keep-transfer-slow = ECNマークで遅くなっています。{ $marked }セグメントに付きました({ $share }の時間)。
why-words-packets-overtake-each-other-sender = パケットの順序が入れ替わり、送信側がロスと見なしています。再送{ $segments }回のうち{ $spurious }回は不要でした。
why-words-transfer-still-starting-its-congestion = 転送の開始直後で、輻輳ウィンドウが増加中です({ $share }の時間)。
why-words-nothing-acknowledged-large-packets-seem = { $longest_stall_s }間、確認応答がありません。大きなパケットが経路上で消えているようです。
why-words-cannot-told-from-end-data = この端からは判定できません。データは{ $rate }で届き、速度を決めているのは相手か経路です。
why-words-losses-seen-at-receiver = この転送が原因ではないロスで遅くなっています。速度にかかわらず、届くまでにセグメントの{ $lost }以上が{ $gaps }回失われました({ $share }の時間)。
why-words-segments-lost-before-here = 届くまでにセグメントが失われています。欠落は{ $gaps }回、{ $share }の時間で、データは{ $rate }で届きます。偶発的なロスか、ポリサーか、短いキューかは、この端からは判定できません。
why-words-segments-overtaken-before-here = 届くまでにセグメントの順序が入れ替わっています。欠落は{ $gaps }回、{ $share }の時間で、再送が届くより早く埋まりました。データは{ $rate }で届きます。送信側が減速しているかは、この端からは判定できません。
why-words-segments-missing-before-here = 届くまでにセグメントが失われるか、順序が入れ替わっています。欠落は{ $gaps }回、{ $share }の時間で、データは{ $rate }で届きます。どちらかは、この端からは判定できません。
why-words-gaps-in-what-arrived = 届いたデータの欠落は{ $all }回、欠落中は計{ $share }の時間。うち{ $long }回は再送に要する1往復以上
why-words-cannot-told-from-samples-get = ソケットの状態からは判定できません。{ $rate }が通り、それ以上にならない理由は現れていません。
why-words-time = { $share }の時間は{ $what }
why-words-window-went-through-each-round = 1往復ごとにウィンドウ{ $window }の{ $fill }が通過
why-words-segments-sent-again-repairs-them = { $segments2 }セグメント中{ $segments }を再送({ $fraction })、回復{ $episodes }回(うち直前にキューの滞留があったもの{ $episodes2 }回)
why-words-before-losses-got-through-give = ロスの前は{ $rate }が通過(±{ $spread })
why-words-round-trip-on-average-least = RTTは平均{ $mean_rtt_s }、最短{ $least_rtt_s }{ $care }
why-words-mib = { $bytes }MiB
why-words-kib = { $bytes }KiB
why-words-bytes = { $bytes }B
why-words-nothing-read-here = データが動いていません。この側のプログラムが{ $seconds }間、何も読み取っていません。
why-words-window-closed = データが動いていません。相手側のウィンドウが{ $seconds }間閉じたままです。相手側のプログラムが読み取っていません。
why-words-nothing-comes-back = データが動いていません。送信したデータの確認応答が{ $seconds }間ありません(再送が連続{ $unanswered }回無応答)。経路が途切れているか、相手側が失われています。
why-words-see-whether-other-end-answers = `slowpath measure ping`、`slowpath measure mtu` で、相手側がまだ応答するか確かめてください。
why-words-too-little-transferred-while-i = 観測中の転送量が少なく、制限要因を判定できません。
why-words-watch-longer-transfer-longer = もっと長い転送を見るか、観測時間を延ばしてください(--for 30)。
why-words-run-slowpath-why-sending-end = 送信側で`slowpath why`を実行するか、そこでキャプチャして(tcpdump -s 128 -w FILE)`slowpath explain FILE`を実行してください。
why-words-watch-longer-capture-packets-here = 観測時間を延ばすか(--for 60)、ここでキャプチャして(tcpdump -s 128 -w FILE)`slowpath explain FILE`を実行してください。
why-words-nothing-arrived = 何も届かない
why-words-nothing-under-way = 転送なし
why-words-everything-sent-program-had-no = すべて送信済みで、アプリケーションに次のデータがない
why-words-send-buffer-full-all-sent = 送信バッファが満杯で、すべて送信済み
why-words-window-offered-sender-used-up = 送信側に通知されたウィンドウを使い切り
why-words-receivers-window-full = 受信ウィンドウが満杯
why-words-most-buffer-taken-by-bytes = バッファの大半がアプリケーションの未読データ
why-words-receivers-window-full-closed-far = 受信ウィンドウが満杯かゼロで、最大よりはるかに小さい
why-words-receivers-window-full-round-trip = 受信ウィンドウが満杯で、RTTが無負荷時より長い
why-words-congestion-window-grew-from-its = 輻輳ウィンドウが初期値から増加中
why-words-packets-queued-on-path = 経路のキューにパケットが滞留
why-words-data-arrived-evenly-with-no = データは均等に届き、キューもロスも見えない
why-words-congestion-window-full-on-path = キューのない経路で輻輳ウィンドウが満杯
why-words-marks-congestion-came = ECNマークが到着
why-words-stretches-with-gaps = 一瞬でも欠落のあった区間は、合わせて{ $share }の時間
why-words-losses-being-repaired = ロスを回復中
why-words-timeout-being-repaired = 再送タイムアウトから回復中
why-words-program-here-not-reading = ここのプログラムが読まない
why-words-receiving = 受信中
why-words-starting = 開始中
why-words-too-short = { $seconds }では短すぎて、制限要因を判定できません。
why-words-watch-longer-command = 1秒以上かかる量を転送してください。
why-words-ssh-window-opens-as-far-program-reads = 相手側のsshのウィンドウは、そこのプログラムが読んだ分しか開きません。そのプログラムが遅いか、チャネルのウィンドウが小さいためです({ $share }の時間)。
why-words-far-program-or-protocols-window = ここのプログラムは相手側のプログラムを待っています。相手側が遅いか、プロトコルのウィンドウが小さいためです({ $share }の時間)。
why-words-nothing-send = 送るデータなし
why-words-waiting-program = アプリケーション待ち
why-words-send-buffer-full = 送信バッファ満杯
why-words-receivers-window-full-2 = 受信ウィンドウ満杯
why-words-receiver-does-not-read = 受信側が読まない
why-words-receivers-window-full-path-slow = 受信ウィンドウ満杯、経路の遅延増
why-words-path-full = 回線が満杯
why-words-window-growing = ウィンドウ増加中
why-words-marked-as-congested = ECNマークあり
why-words-repairing-losses = ロスを回復中
why-words-repairing-timeout = 再送タイムアウトから回復中
why-words-newest-s = (直近300秒)

## why-answer

why-answer-ended-once-before-had-connection = { $first }は接続する前に終了しました({ $status })。
why-answer-process-its-children-moved-no = 観測中、プロセス{ $pid }とその子はTCPでデータを転送していません。
why-answer-request-connect-not-answered = { $remote }が{ $seconds }間、接続要求に応答していません。
why-answer-no-tcp-connection-with-port = 観測中、ポート{ $port }のTCP接続にデータの転送はありません。
why-answer-no-tcp-connection-moved-data = 観測中、{ $text }へのTCP接続にデータの転送はありません。
why-answer-speaks-udp-with-kernel-keeps = { $peers }とUDPで通信しています{ $quic }。カーネルにはその記録がないので、判定にはキャプチャが必要です(tcpdumpの後に`slowpath explain`)。
why-answer-has-udp-sockets-without-peer = 相手の決まっていないUDPソケットがあり、TCPではデータを転送していません。QUICなどUDP上のプロトコルかもしれません。カーネルにはその記録がないので、判定にはキャプチャが必要です(tcpdumpの後に`slowpath explain`)。
why-answer-small-connections-ended = 終了した{ $small }接続(計{ $bytes }B)は省きました(転送量の多いものを残しました)。
why-answer-connections-with-bytes-began-ended = { $missed }接続({ $missed2 }B)は、観測の間に始まり終わりました。
why-answer-more-connections-not-followed-busiest = ほかの{ $not_followed }接続は対象外です(転送量の多いものを選びました)。
why-answer-part-programs-time-not-told = アプリケーションの時間の一部は内訳が分かりません(何を待っているか分からないか、見た時には終了していたもの)。
why-answer-part-programs-time-not-visible = アプリケーションの時間の一部は、このユーザーには見えません(他のユーザーのものか、何を待っているか示さないもの)。
why-answer-program-ended-without-moving-data = アプリケーションは、見える範囲ではTCPでデータを転送せずに終了しました。
why-answer-program-had-no-tcp-connection = アプリケーションに、データのあるTCP接続はありませんでした。
why-answer-program = アプリケーション
why-answer-probably-quic-http = (おそらくQUIC、HTTP/3)

## why-judge

why-judge-time-2 = { $time }の時間
why-judge-receivers-window-always-had-room = 受信ウィンドウには常に空きあり
why-judge-nothing-sent-again-while-i = 観測中の再送なし
why-judge-losses-follow-load-too-few = ロスは負荷に伴うか、少なすぎて不明
why-judge-no-marks-congestion = ECNマークなし
why-judge-pauses-do-not-end-with = 中断は相手からの応答で終わらない
why-judge-samples-socket-do-not-show = ソケットの状態には現れない
why-judge-needs-second-transfer-with-other = DSCP値の異なる転送との比較が必要(sshの類は--again ipqos=none、その他は--again mark=cs0)

## why-job

why-job-reading-source = 読み出し
why-job-computing = 計算
why-job-pausing = 一時停止
why-job-waiting-processor = CPU待ち
why-job-held-back-by-processor-quota = CPUクォータによる待ち
why-job-writing-here = 書き込み
why-job-waiting-answer = 応答待ち
why-job-receiver = 受信側
why-job-network = ネットワーク
why-job-not-visible = 見えない部分

## told-iperf3

told-iperf3-breaks-off-line-as-while = { $line }行目で途切れています(まだ書き込み中かもしれません)
told-iperf3-line-column-no-json = { $line }行{ $column }列がJSONではありません
told-iperf3-processor-busy-test-may-limit = { $whose }のCPU使用率が測定中{ $share }%でした。それが制限要因かもしれず、経路については判定しません。
told-iperf3-test-itself-limit-asked-b = 測定自体が制限要因です。指定({ $asked }、-b)に対し、{ $got }が届きました。
told-iperf3-round-trips-congestion-window-on = RTT { $least_rtt }〜{ $most_rtt }、輻輳ウィンドウは平均{ $cwnd }
told-iperf3-receivers-window-limits-each-round = 受信ウィンドウが制限要因です。RTT { $rtt }ごとに{ $window }で、{ $rtt2 }になります。
told-iperf3-senders-socket-buffer-limits-on = 送信バッファが制限要因です。RTT { $rtt }ごとに未ACKデータ{ $flight }(バッファ{ $buffer })です。
told-iperf3-path-full-arrive-whatever-sent = 回線を使い切っています。送信速度にかかわらず{ $got }が届き、RTTは{ $least_rtt }から{ $most_rtt }に増えます。
told-iperf3-losses-hold-back-segments-sent = ロスが制限要因です。セグメントの{ $share }を再送し、RTTにキューは現れていません。経路のロス、ポリサー、短いキューのあふれのどれかは、iperf3の値からは分かりません。
told-iperf3-jitter = 、ジッタ{ $jitter }
told-iperf3-sent-arrived-datagrams-lost = 送信{ $given }のうち{ $got }が届き、データグラムの{ $lost }%が失われました{ $jitter }。
told-iperf3-test-itself-limit-arrived-asked = 測定自体が制限要因です。指定{ $given }に対し{ $got }が届き、ロスはほとんどありません{ $jitter }。
told-iperf3-sender-sent-segments-again = 送信側は{ $count }セグメントを再送しました。
told-iperf3-what-limited-cannot-told = { $received }の制限要因は判定できません: { $why }。
told-iperf3-arrived-sender-says-same = { $got }が届き、送信側の値も同じ
told-iperf3-arrived-senders-own-figure-higher = { $got }が届き、送信側の値{ $sent }は{ $more }大きい(ソケットが受け取った分を数えるため)
told-iperf3-has-no-start-end = "start"と"end"がありません
told-iperf3-its-end-holds-no-rates = "end"に速度がありません
told-iperf3-host = このマシン
told-iperf3-other-end = 相手
told-iperf3-let-several-iperf-run-once = そこで複数のiperf3を同時に実行するか、より速いマシンで測り直してください。
told-iperf3-leave-b-out-see-what = 経路の速度を知るには、-bを外してください。
told-iperf3-result-holds-no-round-trips = 結果にRTTがない
told-iperf3-give-receiving-end-larger-buffer = 受信側のバッファを大きくするか(iperf3 -w、net.ipv4.tcp_rmem)、接続を増やしてください(-P 4)。
told-iperf3-leave-w-out-make-larger = -wを外すか、大きくしてください。
told-iperf3-whether-link-others-on-slowpath = 回線自体か他の通信かは、`slowpath diagnose iperf3://HOST`が接続を増やして調べます。
told-iperf3-slowpath-diagnose-iperf-host-tells = 区別するには、`slowpath diagnose iperf3://HOST`で試すか、測定をキャプチャして`slowpath explain`に渡してください。
told-iperf3-no-window-buffer-queue-loss = 値にウィンドウ、バッファ、キュー、ロスの特徴がない
told-iperf3-iperf-does-not-say-where = 失われた位置(送信側のキュー、経路、受信側のソケット)は、iperf3の値からは不明
told-iperf3-slowpath-measure-iperf-host-u = `slowpath measure iperf3://HOST -u`は3つを分けて数えます。ロスがなくなるまで-bを下げてください。
told-iperf3-ask-more-b-see-what = 経路の速度を知るには、-bを上げてください。
told-iperf3-result-does-not-say-how = 結果にデータグラムのロス数がない
told-iperf3-other-end-sent-its-windows = 送信したのは相手で、そのウィンドウとRTTはこの結果にない
told-iperf3-slowpath-diagnose-iperf-host-watches = `slowpath diagnose iperf3://HOST`はこの測定を観測し、効果のある変更を試します。`slowpath why --port 5201`は実行中のものを観測します。

## why-text

why-text-other-connections-left-out-format = { "\u000A" }ほかの{ $connections }接続は省きました。--format jsonで表示します。
why-text-s-no-connection-yet = { $at_s }秒  接続待ち
why-text-connections = { "  " }{ $connections }接続
why-text-s-round-trip = { $at_s }秒  { $rate }  RTT { $rtt }  { $receiving }{ $more }
why-text-by-packets-samples-say = パケットによる判定です。サンプルだけでの判定: { $sentence }
why-text-packets-captured = { $packets }パケットをキャプチャしました。
why-text-packets-lost = ほかの{ $lost }パケットは取りこぼしました(経路での損失ではありません)。
why-text-packets-file = 保存先は{ $file }です。詳しくはslowpath explainで見られます。
why-text-no-tcp-connection-moves-data = 今データを転送しているTCP接続はありません。開始するには: slowpath why -- COMMAND
why-text-stands-still = 停止中
why-text-why-first-slow-slowpath-why = 先頭が遅い理由を調べるには: slowpath why --pid { $pid }
why-text-why-first-slow-slowpath-why-2 = 先頭が遅い理由を調べるには: slowpath why --to { $remote }
why-text-in = { $program }{ $arrow }{ $remote }: { $facts }で{ $connection }、{ $goodput_bit_per_s }、{ $congestion_control }
why-text-at-least = 少なくとも{ $bytes }
why-text-busiest-thread-one-processor = 最も忙しいスレッドは{ $program }で、1コアの{ $share }です。
why-text-busiest-tcp-transfers-machine-now = このマシンで今、転送量の多いTCP接続:
why-text-where-time-job-went = ジョブの時間の内訳:

## told-ndt7

told-ndt7-no-measurements = 測定値が含まれていません
told-ndt7-line-no-json = { $line }行目がJSONではありません: { $error }
told-ndt7-failed = 測定に失敗しています: { $failure }
told-ndt7-open = 何が制限したかは判定できません: { $received }が届きました。{ $why }。
told-ndt7-too-short = 測定が短く、開始部分と区別できません
told-ndt7-too-few-looks = サーバのカーネルの記録が少なすぎます
told-ndt7-client-sent = 送信したのはクライアントで、結果には受信側の記録しかありません
told-ndt7-contradicts = カーネルの時間の記録が矛盾しています
told-ndt7-no-round-trips = 結果にRTTがありません
told-ndt7-mixed = 大半の時間を占めた制限要因はありません
told-ndt7-window-and-queue = 受信ウィンドウが満杯で、経路のキューも満杯でした
told-ndt7-window-or-reader = 受信ウィンドウが満杯でした(ウィンドウが小さいか、受信プログラムの読み取りが遅い)
told-ndt7-drops-above = BBRで{ $share }が再送されました。ポリサーや短いキューが、ある速度を超えた分を破棄する場合の特徴です
told-ndt7-bbr-uneven = 速度がBBRの見た帯域の近くに留まりませんでした
told-ndt7-losses = キューなしで{ $share }が再送されました(偶発的な損失か、ポリサー)
told-ndt7-grows = 輻輳ウィンドウが制限しましたが、キューも損失もありませんでした
told-ndt7-take-packets = 送信側のキャプチャならさらに判ります: `slowpath explain CAPTURE`。または自分の転送を`slowpath why`で観測してください。
told-ndt7-server-idle = サーバが制限しました: 時間の{ $share }は送るデータがありませんでした。
told-ndt7-send-buffer = サーバの送信バッファが、時間の{ $share }で制限しました。
told-ndt7-other-server = 別のサーバで試してください。この測定は経路について何も示しません。
told-ndt7-window = 受信ウィンドウが制限しました: RTT { $rtt }ごとに{ $window }、時間の{ $share }。
told-ndt7-larger-window = クライアントのホストの受信バッファを大きくしてください(Linuxではnet.ipv4.tcp_rmem)。
told-ndt7-bbr-full = 回線を使い切っています: BBRの見た帯域は{ $bandwidth }で、{ $rate }が届きました。
told-ndt7-full = 回線を使い切っています: { $rate }が一定して届き、RTTは{ $least }から{ $rtt }に増えました。
told-ndt7-link-or-others = 回線自体か、シェーパーか、他の通信かは、自分のサーバに対する`slowpath diagnose`で判ります。
told-ndt7-both-rates = サーバのカーネルでは{ $server }、クライアントのプログラムでは{ $client }
told-ndt7-account = サーバのカーネルは時間の{ $busy }で送信中、受信ウィンドウ待ち{ $window }、自身の送信バッファ待ち{ $buffer }
told-ndt7-trips = RTTは最小{ $least }、終了時{ $rtt }
told-ndt7-again = バイトの{ $share }が再送されました

## told-text

told-text-stream-sent-by = { $tool }、{ $to_uppercase } { $streams }ストリーム、{ $told }間、送信は{ $sent_here }
told-text-side = こちら側
told-text-other-side = 相手側

## single-ended-text

single-ended-text-test-data-server = 測定{ $test }: データはサーバ{ $way }、{ $what }
single-ended-text-s-test-one-connection-with = { $to }{ $server }、測定1回{ $test_s }秒、{ $congestion_control }の1接続:
single-ended-text-it = { $back }:
single-ended-text-moved = { $cost2 }で{ $cost }を転送しました(測定{ $tests }回)。
single-ended-text-what-tried-agrees = 試した結果も一致します: { $tried }。
single-ended-text-against-speaks-what-tried-take = 試した結果は一致しません: { $tried }。測定をキャプチャしてslowpath explainに渡してください。
single-ended-text-nothing-tried-tells-from-another = 試した範囲では、{ $words }を他の原因と区別できません。
single-ended-text-network-treats-marks-differently = 網での扱いがDSCP値によって違います: { $marks }。
single-ended-text-fastest = 最も速いのは{ $change }で、{ $mean }です。
single-ended-text-round-trip = RTT { $least_rtt_s }〜{ $mean_rtt_s }、{ $limit }
single-ended-text-sent-again = 、再送{ $share }
single-ended-text-perhaps-times-as-fast = おそらく{ $ratio }倍({ $low }〜{ $high })
single-ended-text-not-settled = 制限要因は確定しません。試した結果が、1本の接続が示すことに反します。
path-processor-sends = このホストのCPUが制限要因です。測定用プログラムは休まず送りますが、{ $rate }にとどまります。
path-processor-reads = このホストのCPUが制限要因です。測定用プログラムは休まず読みますが、{ $rate }にとどまります。
path-no-network = { $address }はこのマシン自身です。間にネットワークはなく、バイトを動かすのはそのCPUです。
single-ended-text-times-as-fast-once = { $ratio }倍、1回
single-ended-text-no-difference-shown-times = 差は判定できず({ $low }〜{ $high }倍)
single-ended-text-times-as-fast = { $ratio }倍({ $low }〜{ $high })
single-ended-text-times-as-fast-2 = { $ratio }倍
single-ended-text-to = 送信先
single-ended-text-from = 送信元
single-ended-text-nothing-tried-end-made-faster = この端で試したものは、どれも速くなりませんでした。
single-ended-text-faster-open = この端で試したもので速くなるかは、時間内に判定できませんでした。{ $change }は平均で{ $ratio }倍ですが、ばらつきが大きく確かではありません。--mostで時間を増やすと判定できることがあります。
single-ended-text-not-told = 平均{ $ratio }倍、不確か({ $low }〜{ $high })
single-ended-text-not-told-uneven = 平均{ $ratio }倍、ばらつきが大きく判定できず
single-ended-text-as-fast-as-before = 速さは同じ
single-ended-text-no-difference-shown = 差は判定できず
layer-tcp = TCPのみ
layer-pipe = sshパイプ
layer-sftp = sftp
layer-scp = scp
layer-tunnel = sshトンネル
layer-ftp = FTP
layer-s3 = S3
layer-requests-in-flight = 同時に出す要求の数
layer-channel-window = sshのチャネルウィンドウ
layer-waits-for-answers = 部分ごとに応答を待っている
layer-server-reads-slowly = サーバのプログラムの読み取りが遅い
layer-processor-here = このホストのCPU
layer-reason-not-seen = 原因はここからは判定できません
layer-its-limit = { $limit }が制限
path-change-connections = { $count }接続
path-change-congestion-control = 輻輳制御{ $name }
path-change-buffers = ソケットバッファ{ $size }
path-change-paced = { $rate }にペーシング
path-change-marked = DSCP { $mark }
path-nothing-left = これ以上試す時間または許可がありませんでした。
path-no-time-for = 時間が足りず試せなかったもの: { $what }。--mostで時間を増やしてください。
path-not-tried = 試せませんでした、{ $what }: { $error }
path-from-server = サーバからのデータ
path-server-reads = サーバのプログラムの読み取りが遅い: 届くのは{ $rate }で、sshは自身のウィンドウよりはるかに少ない{ $flight }を送った状態で残りを止めています。
path-left = { $what }がサーバに残っている可能性があります。削除に失敗しました: { $error }
path-losses-of-a-rate = 損失がこの経路を{ $rate }に抑えており、{ $more }を同時に使っても合計は増えません。損失は速度によるものです: それを超えた分をポリサー、またはキューがほとんどないリンクが破棄しています。
path-losses-shared = 偶然の損失なら接続ごとに独立に起きるため、{ $more }の合計は増えるはずだが、増えない
path-losses-carried = { $more }を同時に使うと合計は{ $ratio }倍で、キューはできなかった
path-losses-by-chance = 損失が1本の接続を{ $rate }に抑えていますが、{ $more }を同時に使うと合計は{ $ratio }倍になります: 損失は速度によるものではなく、経路自体がパケットを失っています。
path-losses-not-of-a-rate = ポリサーなら{ $more }の合計も同じ速度に抑えられるはずだが、増えている
path-more-carried = { $more }を同時に使うと合計は{ $ratio }倍だった
path-losses-above-a-rate = 損失がこの経路を{ $rate }に抑えており、{ $more }では送るほど損失が増えます: ある速度を超えた分をポリサー、またはキューがほとんどないリンクが破棄しています。
path-losses-same-share = 偶然の損失なら{ $more }でも同じ割合になるはず
path-more-lost = { $more }ではセグメントの{ $share }が再送された（元は{ $lost }）
path-to-server = サーバへのデータ
single-ended-text-one-thing-changed = { $layer }で1点だけ変更:
single-ended-text-saved = 残りの測定{ $tests }回(約{ $bytes })は、結論を変えないので省きました。
single-ended-text-range = ({ $low }〜{ $high })
single-ended-text-loses = { $layer }は{ $below }の速度の{ $share }{ $range }を失っています: { $culprit }。
single-ended-text-none-loses = { $at_most }を超える損失のある層はありません。
single-ended-text-unclear = 層による損失の有無は判定できません: 速度のばらつきが大きすぎるか、測定が足りません。
single-ended-text-against-layer = { $below }の{ $share }、{ $limit }
single-ended-text-idle-and-loaded = RTTは無負荷時{ $idle }、負荷時{ $loaded }: { $words }。
single-ended-text-bloated = バッファブロート。キューのため、並行する通信がすべて待たされます
single-ended-text-some-queue = キューはあるが、ほとんど気付かない程度
single-ended-text-no-queue = キューなし
single-ended-text-mtu = パスMTUは{ $mtu }バイトです。
single-ended-text-mtu-or-more = パスMTUは{ $mtu }バイト以上です。
single-ended-text-mtu-of-tcp = パスMTUは、TCPによれば{ $mtu }バイトです。プローブへの応答はありませんでした。
single-ended-text-mtu-black-hole = パスMTUは{ $mtu }バイトで、それより大きいパケットは通知なしに失われます(PMTUDブラックホール)。
why-text-from = 送信元{ " " }
why-text-to = 送信先{ " " }

## why-trial

why-trial-living = 接続中の転送で試した結果:
why-trial-again = 再実行して試した結果:
why-trial-blocks = 変更なし{ $without }、変更あり{ $with }。{ $length }秒の区間{ $blocks }個(各区間の最初の{ $settle }秒は除外)。
why-trial-runs = 変更なし{ $without }、変更あり{ $with }。交互に{ $runs }回実行(平均{ $length }秒)。
why-trial-nothing = 何も試していません: { $why }。
why-trial-not-tried = { $change }: 試していません: { $why }。
why-trial-faster = { $times }倍の速度({ $low }～{ $high })
why-trial-slower = 低下、速度は{ $times }倍({ $low }～{ $high })
why-trial-same = 差は示されない(速度は{ $low }～{ $high }倍)
why-trial-one-run = 判定できない: 1回の実行後、{ $why }。最低{ $least }回必要
why-trial-few-runs = 判定できない: { $count }回の実行後、{ $why }。最低{ $least }回必要
why-trial-one-block = 判定できない: 1区間の後、{ $why }。{ $length }秒の区間が最低{ $least }個必要
why-trial-few-blocks = 判定できない: { $count }区間の後、{ $why }。{ $length }秒の区間が最低{ $least }個必要
why-trial-transfer-ended = 転送が終わった
why-trial-watch-ended = 観測が終わった
why-trial-ended = 終了した
why-trial-interrupted = 中断された
why-trial-before-suggested = このプログラムの接続で、制限要因から考えられる変更を交互に試します。各接続の設定は元に戻します
why-trial-before = このプログラムの接続で{ $changes }を交互に試します。各接続の設定は元に戻します
why-trial-needs = 転送が約{ $seconds }秒続く必要があります。RTTが長い場合や損失がある場合はもっとかかります
why-trial-kept-bbr = 元に戻らないもの: カーネルはこの接続のペーシングを続け、輻輳ウィンドウは変更後の値から始まる
why-trial-kept-control = 元に戻らないもの: 輻輳ウィンドウは変更後の値から始まる
why-trial-kept-pacing = 元に戻らないもの: カーネルはこの接続のペーシングを上限なしで続ける
why-trial-kept-buffer = 完全には元に戻らない: 同じバッファでもその後は大きなウィンドウを許し、Linux 5.14より前では自動拡大も戻らない。そのため最後に一度だけ変更し、その前と比べる
why-trial-kept-clamp = 一度広告したウィンドウは取り消されないため、小さい値はデータが届くにつれて効く
why-trial-not-allowed = このユーザーは{ $name }を設定も復元もできない。管理者がnet.ipv4.tcp_allowed_congestion_controlに追加できる
why-trial-no-control = このカーネルに輻輳制御{ $name }はない。使えるものはnet.ipv4.tcp_available_congestion_controlにある
why-trial-refused-name = カーネルが{ $name }を拒否: { $error }
why-trial-refused = カーネルが拒否: { $error }
why-trial-given-less = カーネルが与えたのは{ $given }B({ $bound }が上限)
why-trial-window-scale = 接続時に決まったウィンドウスケールでは、ウィンドウは最大{ $largest }B。新しい接続ならこのバッファでより大きくなる(--again '{ $change }'で効果を確認できる)
why-trial-no-guardian = 強制終了時に復元するプロセスがなくなった
why-trial-of-sender = 送信側が決める設定だが、ここはデータを受信している
why-trial-of-receiver = 受信側が決める設定だが、ここはデータを送信している
why-trial-nothing-lifts = このユーザーが設定できるこの端のソケットオプションでは、制限要因({ $limit })を取り除けない
why-trial-too-early = { $why }(データ転送が{ $seconds }秒に満たないうち)
why-trial-guardian-fails = 強制終了時に復元するプロセスを起動できない: { $error }
why-trial-given-back-later = { $change }をこのプロセスは元に戻せなかった。最後に監視プロセスが戻す

## why-again

why-again-before = まず短縮実行を{ $runs }回(それぞれ最大でデータ{ $seconds }秒または{ $bytes })、そのままと{ $changes }ありで交互に行い、その後コマンド自体を最後まで実行します
why-again-writes = どの実行もコマンドが書くものを書き、短縮実行では途中で切れます。最後の実行は完全です
why-again-run-plain = 実行{ $run }/{ $runs }、そのまま: { $rate }
why-again-run-changed = 実行{ $run }/{ $runs }、{ $change }あり: { $rate }
why-again-moved-said = ある実行で動いたのは{ $moved }だけ("{ $said }")
why-again-moved = コマンドが動かしたのは{ $moved }だけ
why-again-moved-less = ある実行で動いたのは{ $moved }だけ(コマンドは、すでにあるものを再転送しないのかもしれない)
why-again-no-connection = このプログラムは自分のTCP接続を開かなかった
why-again-set-otherwise = 接続後に、プログラムかカーネルが別の値に設定する
why-again-no-reach = このユーザーはプログラムのソケットに届かない: { $error }
why-again-watched-already = そのソケットはすでに別のプログラムが監視している
why-again-no-gate = このカーネルでは、接続前にプログラムのソケットを変更できない(seccomp_unotify、Linux 5.5): { $error }
why-again-no-ssh = { $program }がsshをどう起動するかslowpathは知らない。オプション付きのコマンド全体をcommand='...'で指定
why-again-no-words = "{ $text }"は単語の並びではない(引用符が閉じていないか、空)
