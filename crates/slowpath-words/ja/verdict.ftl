### What is said of a transfer.


## What may be said of any limit.

not_seen = 判定に必要なものがキャプチャにない
not_short = 転送量が少なすぎるため除外できません
not_in-a-part = 転送の一部だけでは分からない
not_plainer = 当てはまるが、{ $chosen }の方が明確
not_needs-comparison = DSCP値の異なる転送との比較が必要
not_in-packets = パケットだけでは分からない
not_without-loss = パケットロスなし
not_window-scale = ウィンドウスケールが不明(3ウェイハンドシェイクが記録されていない)

## What the ledger alone says of a limit.

ledger_handshake = 接続の確立に{ $time }かかりました。最初のパケットが失われると、再送まで1秒待ちます。
ledger_short-queue = この経路には短すぎるキューが{ $events }回溢れ、失われた分の回復に{ $time }かかりました。
ledger_stood-still = 経路がしばらく何も通しませんでした（{ $times }回）。その間と復帰までに{ $time }かかりました。
ledger_time = { $time }は{ $cause }が制限要因でした。
ledger_but = 一瞬ごとに見ると{ $cause }が最長({ $time })です。どちらが主因かは、このキャプチャではこれ以上判断できません。
ledger_but_marks = そのうち{ $time }はリンクが埋まっています。ECNマークはそのキューが付けたものです。
ledger_but_bursts = そのうち{ $time }はリンクが埋まっています。リンクを速くしても、その分だけ送信側のアプリケーションの待ち時間が延びます。
ledger_but_window = そのうち{ $time }はキューも溜まっており、内訳ではリンクが埋まった時間に数えています(経路の容量は観測できていません)。

## receiver-window

receiver-window = 受信ウィンドウ{ $window }が{ $held }の時間で満杯です。RTT { $rtt }では、経路の能力にかかわらず{ $allows }が上限です。
receiver-window_inferred = ウィンドウスケールは推定値です。
receiver-window_not_room = ウィンドウが満杯の時間は{ $held }だけ
receiver-window_not_shrinks = ウィンドウが{ $from }から{ $to }に縮小
receiver-window_not_queue = ウィンドウが満杯なのはキューのため。広げてもキューが伸びるだけ
receiver-window_seen_full = { $held }の時間でウィンドウが満杯
receiver-window_seen_size = 満杯時のウィンドウは{ $window }
receiver-window_seen_eaten = ウィンドウの右端が確認応答より{ $share }遅れる
receiver-window_seen_bbr = 送信側がBBRの場合、`ss -i`のrwnd_limitedは{ $share }の時間だけ(BBRのペーシングがウィンドウより先に判定されるため)

## receiver-application

receiver-application = 受信側のアプリケーションが{ $rate }でしか読まず、ウィンドウが{ $from }から{ $to }に縮小し、{ $closed }の時間はゼロウィンドウです。ウィンドウの拡大や別の経路では速くなりません。
receiver-application_steps = 受信側のアプリケーションが{ $rate }でしか読まず({ $period }ごとに{ $step })、ウィンドウが{ $from }から{ $to }に縮小し、{ $closed }の時間はゼロウィンドウです。ウィンドウの拡大や別の経路では速くなりません。
receiver-application_stopped = 受信側のアプリケーションが{ $at }時点から{ $length }間、読み出しを止めました。ゼロウィンドウになり、何も送れませんでした。それ以外は、届いたものを読んでいます。
receiver-application_not_closed = ゼロウィンドウは{ $closed }、満杯は{ $held }の時間
receiver-application_not_constant = 満杯時もウィンドウは最大の{ $ratio }を維持
receiver-application_seen_closed = ゼロウィンドウが{ $closures }回、計{ $closed }
receiver-application_seen_ratio = 送信を抑えている間、ウィンドウは最大の{ $ratio }
receiver-application_seen_edge = ウィンドウの右端は{ $rate }で前進

## sender-application

sender-application = 送信側のアプリケーションが止まります。ウィンドウが空いているのに、{ $idle }の時間は未ACKデータがありません(中断{ $pauses }回、最長{ $longest })。
sender-application_rhythm = 送信側のアプリケーションの供給が{ $rate }しかありません。確認応答が届いた時ではなく自身の周期で送り(確認応答に続くバーストは{ $clocked })、セグメントより小さく、ウィンドウは空いています。
sender-application_even = 送信側が自ら{ $rate }に抑えて送っています。{ $even }の時間は一定の間隔で送り、経路に滞留はなく、ウィンドウに空きがあります。アプリケーションの供給がそれだけか、ソケットの上限(SO_MAX_PACING_RATE)です。
sender-application_seen_even = { $even }の時間は一定の間隔
sender-application_not_even = 一定の間隔で送っているのは{ $even }の時間だけ
sender-application_pace = 送信側のアプリケーションの供給が{ $rate }しかありません。ウィンドウに空きがあり、滞留もありません。
sender-application_schedule = 送信側のアプリケーションは{ $period }ごとに{ $bytes }({ $rate })しか送らず、経路はそれを運べています。経路を速くしても待ち時間が延びるだけです。
sender-application_not_idle = 未ACKデータがない時間は{ $idle }だけ
sender-application_not_rhythm = バーストの{ $clocked }は確認応答の直後、パケットの{ $short }はセグメント未満
sender-application_seen_idle = 未ACKデータなしが{ $idle }
clocking_seen_bursts = バーストの{ $clocked }は確認応答に続く
clocking_seen_pauses = 中断{ $pauses }回の{ $clocked }は確認応答で終わる(偶然なら{ $chance })

## A flight that stays at one amount: send-buffer, protocol-window, sender-application

constant_not_losses = { $episodes }回のロスで未ACKデータが変化
constant_not_room = 未ACKデータ{ $flight }がウィンドウ{ $window }に近い
constant_not_bulk = { $rounds }往復で{ $flight }では少なすぎる
constant_not_timed = キャプチャの時刻の分解能が足りず、送信の契機が分からない
constant_not_stays = 未ACKデータが一定なのは往復の{ $share }だけ
constant_seen_plateau = 未ACKデータが{ $flight }で一定
constant_seen_share = 往復の{ $share }

## send-buffer

send-buffer = 送信側のバッファ(またはアプリケーションの固定量)が制限要因です。未ACKデータが{ $flight }で頭打ちです({ $rounds }往復中{ $run })。ウィンドウ{ $window }には届かず、ロスも滞留もなく、確認応答のたびにすぐ次を送ります。
send-buffer_ceiling = 送信側の固定量(おそらくバッファ)が制限要因です。{ $rounds }往復の{ $share }で未ACKデータが{ $flight }に達し、{ $most }を超えません。ウィンドウ{ $window }には届かず、ロスも滞留もありません。
send-buffer_not_ssh = SSHのポートでは、固定量はプロトコルのもの
send-buffer_not_clocked = 確認応答の直後のバーストは{ $clocked }だけ(偶然なら{ $chance })

## protocol-window

protocol-window_channel = プロトコルの固定量(SSHチャネルのウィンドウ、または送信バッファ)が制限要因です。未ACKデータが{ $flight }で頭打ちです({ $rounds }往復中{ $run })。ウィンドウ{ $window }には届かず、ロスも滞留もなく、確認応答のたびにすぐ次を送ります。
protocol-window = プロトコルが応答なしに送れるのは{ $flight }までです。バーストの{ $share }は、受信側のアプリケーションのメッセージ{ $answers }個のどれかへの確認応答で始まります。ロスも滞留もなく、TCPのウィンドウは空いています。
protocol-window_not_answers = バーストの{ $share }は相手のアプリケーションのメッセージ{ $answers }個のどれかで始まる
protocol-window_not_silent = 受信側のアプリケーションは、待つ対象となるものを送っていない
protocol-window_not_ssh = 未ACKデータが一定なのは別の原因

## bottleneck-bandwidth

bottleneck-bandwidth = { $rate }の回線(またはシェーパー)を使い切っています。遅延は滞留量とともに増え、無負荷時の{ $base }より最大{ $queued }({ $size })長くなります。
bottleneck-bandwidth_despite-losses = { $episodes }回のロスがあっても、転送は終始ほぼ{ $rate }です。この送信側はロスでは遅くならないので、これが経路の速度です。
bottleneck-bandwidth_varying = 速度が変動する回線({ $low }〜{ $high })を使い切っています。速度が低いほどキューの遅延は長く、無負荷時の{ $base }より最大{ $queued }長くなります。
link_own-queue = { $losses }回のロスではいずれも送信中のデータが約{ $flight }、RTTは{ $least }〜{ $most }: キューにあるのはこの転送のデータだけで、回線速度が変動
link_slower-later = キューがあふれた時のRTTは{ $full }、別の時には最大{ $longest }: その時は回線が遅かった
link_follows-rate = キューの遅延は転送が遅いほど長く、回線自体の速度が変動
link_ignores-rate = ロス時の遅延は転送の速度に連動しない
bottleneck-bandwidth_not_alone = 同じホスト間で{ $flows }フローが同時に動作
bottleneck-bandwidth_not_slowed = ロスの後、速度が{ $rate }に低下
link_not_used = { $rate }の回線の使用率は{ $used }だけ
link_not_constant = 未ACKデータが{ $flight }で一定なのは、満杯の回線ではない
link_not_delay = 滞留量で説明できる遅延は{ $explained }
link_not_base = RTTの中央値{ $rtt }は無負荷時の{ $base }に近い

## shared-bottleneck

full-link_acks = キューはデータ側でなく確認応答の経路にあり、確認応答は最大{ $waits }待たされています。データ側の回線を速くしても効果はありません。
full-link_acks_next = 受信側から送信側への回線の速度と、そこを使う他の通信を確認してください。
shared-bottleneck_or-slower = このキャプチャに他の通信はなく、一時的に遅くなった回線でも同じように見えます。
shared-bottleneck = 同じホスト間の{ $flows }フローが共有する{ $rate }の回線(またはシェーパー)を使い切っています。遅延は滞留量とともに増え、無負荷時の{ $base }より最大{ $queued }({ $size })長くなります。
shared-bottleneck_full-queue = 満杯の回線を他のトラフィックと共有しています。ロスは遅延が最大の時に起き(中央値のロスの直前では、それ以下の遅延が{ $rank })、無負荷時の{ $base }より最大{ $queued }長い遅延のうち、自分の負荷による遅延は{ $own }だけです。
shared-bottleneck_standing = 満杯の回線を他のトラフィックと共有しています。キューが空にならず(RTTは最短{ $least }、無負荷時は{ $base })、無負荷時の{ $base }より最大{ $queued }長い遅延のうち、自分の負荷による遅延は{ $own }だけです。
shared-bottleneck_not_alone = 同じホスト間で記録されたTCP接続は1本だけ
shared-bottleneck_not_delay = RTT { $rtt }は無負荷時の{ $base }に近い
shared-bottleneck_not_others = 遅延の{ $delay }、回線の時間の{ $busy }は自分の負荷による
shared-bottleneck_not_queue = ロスは遅延が最大の時ではなく、キューは空になる

## Queues and buckets: policed, bottlenecks, random-loss

queue_seen_fit = 仮想キュー{ $size }({ $rate })の誤差{ $error }(ロス{ $losses }個)
queue_seen_step = 滞留量が最大の時の遅延は、キューで増える分の{ $step }
queue_seen_explained = { $rate }のキューで遅延の{ $explained }を説明できる
loss_seen = { $episodes }回に分かれて{ $lost }セグメントがロス({ $fraction })
outage_held = { $at }から{ $length }は何も通らず、送られていた分はその後に届いた
outage_lost = { $at }から{ $length }は何も通らず、送られていた分は失われた
rtt_seen = RTTは最短{ $least }、中央値{ $median }、95パーセンタイル{ $high }
policing_seen_found = 公表された検出法(SIGCOMM 2016)では{ $rate }のポリサーあり、最初のロスまで{ $burst }
policing_seen_few = 公表された検出法(SIGCOMM 2016)ではポリサーなし: ロスが少なすぎる
policing_seen_late = 公表された検出法(SIGCOMM 2016)ではポリサーなし: 最初のロスが2MBを超えてから
policing_seen_fill = 公表された検出法(SIGCOMM 2016)ではポリサーなし: 最初のロスまでの通過量が、その速度で通る量より少ない
policing_seen_tokens = 公表された検出法(SIGCOMM 2016)ではポリサーなし: 平均速度のトークンバケットが、ロス時に特に空いていない
policing_seen_levels = 公表された検出法(SIGCOMM 2016)ではポリサーなし: 平均速度のトークンバケットの残量が、ロスごとに異なる
policing_seen_passes = 公表された検出法(SIGCOMM 2016)ではポリサーなし: 平均速度のトークンバケットが空でもパケットが通る
policing_seen_delay = 公表された検出法(SIGCOMM 2016)ではポリサーなし: ロスの前のRTTが長い

## policed

policed = { $rate }のポリサー(トークンバケット{ $bucket })が超過分を廃棄しています。ロス{ $losses }個中{ $empty }個はトークンバケットが空のときに発生し、負荷が増えても遅延は増えません(キューなし)。
policed_at-least = { $mean }以上を通すポリサー(ロスから見て約{ $rate }、トークンバケット{ $bucket })が超過分を廃棄しています。ロス{ $losses }個中{ $empty }個はトークンバケットが空のときに発生し、負荷が増えても遅延は増えません(キューなし)。
policed_shared = 同じホスト間の{ $flows }フローが共有しています。
policed_not_few = ロス{ $losses }個では規則性が分からない
policed_not_unexplained = どの速度とトークンバケットでもロスを説明できない(誤差{ $error }、ばらつき{ $spread })
policed_not_small = トークンバケット{ $bucket }と遅延{ $samples }個では少なすぎて分からない
policed_not_spaced = データは{ $rate }以下でしか届かず、回線の先と同じ
policed_not_delay = 遅延は、その大きさのキューで増える分の{ $step }だけ増える
policed_not_full = ロスの{ $share }は遅延が最長の時で、トークンバケットとは無関係

## random-loss

random-loss = 負荷では説明できないロスが輻輳ウィンドウを抑えています。{ $segments }セグメント中{ $lost }が{ $episodes }回に分かれて多くは滞留なしに失われ、ウィンドウもアプリケーションも妨げていません。
random-loss_not_backlog = ロスは滞留量{ $size }でのみ発生
random-loss_not_bursts = { $lost }セグメントのロスは{ $episodes }回のバーストだけ
random-loss_not_unslowed = { $lost }セグメントのロスでは送信側は遅くならない
random-loss_not_idle = ロスは{ $episodes }回、未ACKデータなしが{ $idle }の時間
random-loss_not_few = { $lost }セグメントのロスなら{ $rate }まで出る
random-loss_not_round-trips = ロス{ $episodes }回とRTT { $samples }個では少なすぎる

## ecn-congestion

ecn-congestion = ECNマークが送信を抑えています。{ $rounds }往復中{ $marked }往復でECNマークが付き、ロスが発生したのは{ $episodes }往復です。
ecn-congestion_not_marks = ECNマークは{ $marked }往復
ecn-congestion_not_losses = ロスは{ $episodes }回、ECNマークは{ $marked }往復
ecn-congestion_seen_rounds = ECNマークは{ $marked }往復
ecn-congestion_seen_marks = ECNマーク{ $marks }個
ecn-congestion_seen_acks = 輻輳を伝える確認応答{ $acks }個(1つのマークは、送信側に伝わるまで繰り返し報告されます)

## mtu-black-hole

mtu-black-hole = 最大長のセグメント(データ{ $segment }B)を{ $times }回送っても確認応答がなく、{ $passed }Bまでは届いています。経路のMTUが小さく、その通知もないか無視されています。
mtu-black-hole_alone = 最大長のセグメント(データ{ $segment }バイト)を{ $times }回送っても確認応答がなく、小さいものは送っていません。途中のMTUが小さいのに通知されないか、経路がもう何も通さないかです。両方の大きさのpingで区別できます。
mtu-black-hole_not_pass = { $passed }Bのセグメントに確認応答あり

## reordering

reordering = { $late }セグメントの順序が入れ替わり、送信側がロスと見なして{ $again }個を再送しました。実際のロスは{ $lost }個だけです。
reordering_not_late = 遅れて届いたのは{ $segments }セグメント中{ $late }
reordering_not_misled = { $late }セグメントが遅れたが、送信側の誤認は{ $times }回だけ
reordering_not_held = { $late }セグメントが遅れた間は、ウィンドウかアプリケーションが送信を抑えていた
reordering_not_full = { $late }セグメントが遅れても回線は満杯のまま
reordering_seen_late = { $late }セグメントが遅れて到着
reordering_seen_needless = { $again }回の再送は不要

## slow-start

slow-start = 転送は{ $rounds }往復(RTT { $rtt })で終わり、輻輳ウィンドウの増加中だったため、経路を使い切れませんでした。
slow-start_grew = 転送の終了時、輻輳ウィンドウはまだ増加中でした。未ACKデータは{ $rounds }往復(RTT { $rtt })で{ $from }から{ $to }に増え、ロスも滞留もありません。経路を使い切れませんでした。
slow-start_early = スロースタートが未ACKデータ{ $segments }セグメントで、経路が満杯になる前にロスなしで終わり、その後の増加は緩やかでした。
slow-start_not_short = 転送は{ $rounds }往復
slow-start_not_quiet = { $episodes }回のロスとRTT { $rtt }から、経路は使われている

## capture-loss

capture-loss = キャプチャがデータの{ $missed }を取りこぼし(経路でのロスは{ $lost })、ロスが転送を制限したかを判定できません。
capture-loss_not = キャプチャの取りこぼしは{ $missed }
capture-loss_doubt = キャプチャが{ $missed }を取りこぼしているため、確実ではありません。
capture-loss_next = バッファを大きくするか、ヘッダだけにしてキャプチャし直してください

## unknown

unknown_untimed = ここからは判定できません。パケットに時刻がありません。
unknown_one-way = ここからは判定できません。接続の片方向しか記録されていません。
unknown_acknowledgements = ここからは判定できません。確認応答しか記録されていません。
unknown_missed = ここからは判定できません。キャプチャがデータのほとんどを取りこぼしています。
unknown_not_usable = 判定に必要なものはキャプチャにある
unknown_short = 転送量が少なく({ $size })、制限要因を判定できません。
unknown_short-afar = この取得位置で見える転送量が少なく({ $size })、制限要因を判定できません。手前でのロスはここでは見えません。
unknown_not_short = { $size }あれば十分
unknown_queue-or-bucket = { $rate }で滞留量が{ $size }に達するとロスが起きるので、キューかポリサーが廃棄していますが、遅延からはどちらか分かりません。
unknown_not_backlog = ロスは決まった滞留量では起きない
unknown_few-bursts = { $lost }セグメントのロスが{ $episodes }回のバーストだけです。キューあふれ、ポリサー、一時的な断のどれかは、この回数では分かりません。
unknown_not_bursts = { $episodes }回のロスには規則性がある
unknown_crowded-afar = セグメントの{ $lost }が失われ、遅延が{ $spread }変動しますが、自分の負荷ではほとんど説明できません。他の通信が満たすキューか、経路自体のロスと遅延かは、ここからは区別できません。
unknown_not_wavers = 遅延は変動しない
unknown_held-by-sender = 送信側の何かが制限要因です。未ACKデータが{ $flight }で頭打ちです({ $rounds }往復中{ $run })。ウィンドウは{ $window }です。満杯の送信バッファか、一定の速度で供給するアプリケーションかは、ここからは区別できません。
unknown = ここからは判定できません。ウィンドウに空きがあり、{ $episodes }回に分かれて{ $lost }セグメントが失われ、RTTは{ $rtt }(無負荷時{ $base })で、未ACKデータは一定ではありません。
next_time-stamps = 時刻付きでキャプチャしてください
next_both-directions = 1か所で両方向をキャプチャしてください
next_longer = もっと長い転送をキャプチャしてください
next_longer-or-sender = 送信側でキャプチャするか、転送が終わっているならもっと長い転送をキャプチャしてください
next_other-rate = 送信側でキャプチャするか、この少し上と下の速度で送ってください
next_longer-at-sender = もっと長い転送を、できれば送信側でキャプチャしてください
next_empty-path = 送信側で、転送の前からキャプチャしてください。無負荷時の経路が分かれば判定できます
next_sample-buffer = 送信側でキャプチャするか、ソケットの状態を調べてください(ss -tiのrwnd_limited、sndbuf_limited)
next_sample = 転送中に送信側のソケットの状態を調べるか(ss -tiのrwnd_limited、sndbuf_limited、cwnd)、両端でキャプチャしてください
next_sender = 送信側で、できれば両端でキャプチャしてください

## What the path's own counters say: datagrams and frames.

counted_lost = 送信の{ $lost }が失われ、その{ $share }は{ $element }での廃棄です({ $cause })。
counted_lost-at-one = 送信の{ $lost }が失われ、すべて{ $element }での廃棄です({ $cause })。
counted_flow = { $flow }のロスは{ $lost }です。
counted_flow-at = { $flow }のロスは{ $lost }です({ $places })。
counted_place = { $element }で{ $share }
counted_all-arrived = 送信速度が上限です。送信した{ $rate }はすべて届きました。それ以上を経路が運べるかは測定していません。
counted_most-arrived = 送信速度が上限です。送信した{ $rate }は{ $lost }を除いて届きました。それ以上を経路が運べるかは測定していません。
counted_seen = { $element }が{ $packets }パケットを廃棄({ $cause })
counted_not = 廃棄の{ $share }は{ $element }
dropped_queue-full = キューが満杯
dropped_threshold = この廃棄優先度のキューの上限を超過
dropped_aqm = キュー管理による廃棄
dropped_policed = ポリサーの速度とトークンバケットを超過
dropped_loss = ランダムロス
dropped_receive-overload = 機器の受信側に空きなし
dropped_treatment = このDSCP値は廃棄
dropped_too-big = サイズ超過
dropped_ttl-expired = TTL切れ
dropped_other = { $cause }
dropped_incomplete = 同じパケットの別のフラグメントがロス

## Several connections of one job.

job = ジョブ全体の制限要因は{ $limit }で、{ $connections }接続の時間の{ $held }を占めます。{ $what }
job_overflows = 回線の前のキューが、このジョブには短すぎます。接続のバーストであふれ、その回復が{ $connections }接続の時間の{ $held }を占めます。{ $what }
job_fills = ジョブは回線を使い切っています。{ $connections }接続の所要時間は、回線自体に必要な時間({ $floor })とほぼ同じです。{ $what }
job_waits = 要求ごとのデータ以外の時間が制限要因です。{ $connections }接続の時間の{ $held }は、3ウェイハンドシェイクと応答待ちです。{ $what }
job_untold = ジョブの{ $connections }接続の時間の{ $held }は、何に使われたか判定できません。{ $what }
job_seen = ジョブの{ $time }は{ $cause }({ $state })
job_not = 接続の時間の{ $held }だけ

## Runs compared, and what a run's health says.

dscp-treatment = このパケットのDSCP値だけ、網での扱いが違います。ほかを変えずに、{ $fast }では{ $gain }倍の速さです。
dscp-treatment_but = このパケットのDSCP値だけ、網での扱いが違います。{ $beside }以外を変えずに、{ $fast }では{ $gain }倍の速さです。
dscp-treatment_dropped = このパケットのDSCP値だけ、網での扱いが違います。ほかを変えずに、{ $fast }では完了し、ここでは何も進みません。
dscp-treatment_dropped-but = このパケットのDSCP値だけ、網での扱いが違います。{ $beside }以外を変えずに、{ $fast }では完了し、ここでは何も進みません。
dscp-treatment_next = 送信元でDSCP値を外すか(OpenSSHではIPQoS none)、ルータで書き換えてください。実験に含まれていれば、--proveで両方を検証します
dscp-treatment_seen_gain = { $fast }との違いは{ $differs }だけで、その最も遅い回でも、ここの最も速い回の{ $gain }倍
dscp-treatment_seen_gain-slowed = { $fast }との違いは{ $differs }だけで、その最も遅い回はマシンの影響で遅くなったのに、ここの最も速い回の{ $gain }倍
dscp-treatment_seen_nothing = { $fast }との違いは{ $differs }だけで、そちらはすべて完了し、ここには何も届いていない
dscp-treatment_seen_load = CPUは原因ではない: 最も忙しい{ $program }でも1コアの{ $share }
dscp-treatment_seen_capture = キャプチャだけでは: { $sentence }
dscp-treatment_captures = 網での扱いがDSCP値によって違います。DSCP { $slow }({ $slow_name })では{ $slow_rate }、{ $fast }({ $fast_name })では{ $fast_rate }で、前者は後者の{ $share }です。ホスト、経路の長さ、セグメント長は同じです。{ $how }
dscp-treatment_seen_goodput = DSCP { $mark }: { $rate }、制限要因{ $limit }、ロス{ $lost }、RTT { $rtt }
device-limit = 経路上の機器が、この転送では毎秒{ $packets }パケットで頭打ちです。セグメント{ $small }では{ $small_rate }、{ $large }では{ $large_rate }で、パケット数は同じです。
device-limit_seen = セグメント{ $segment }: 毎秒{ $packets }パケット、{ $rate }
host-cpu = { $health }。
host-cpu_next = CPUの多いマシンか、シミュレーション時間で実行してください
compared_not = { $limit }は遅くなる仕組みで、原因は転送の違い
mark_best-effort = ベストエフォート
mark_known = { $name }
mark_unnamed = 名前なし

## The ledger in a sentence

ledger_sentence = { $duration }のうち、{ $parts }です。
ledger_sentence-at-least = { $duration }のうち、{ $parts }です。回線容量は分からず、データで{ $rate }以上とだけ言えます。
ledger_part = { $time }は{ $words }
ledger_link-itself = 回線自体
ledger_start = どの転送にも必要な接続確立とスロースタート
ledger_measurement = 測定環境の影響
ledger_early-exit = スロースタートが{ $segments }セグメントで終わった後の増加
ledger_slow-start = 余分なスロースタート
ledger_random-loss-once = ランダムロス1回の回復
ledger_random-loss = ランダムロス{ $events }回の回復
ledger_overflow-once = 短いキューのあふれ1回の回復
ledger_overflow = 短いキューのあふれ{ $events }回の回復
ledger_link-full = 満杯の回線
ledger_outage-once = 経路の途絶1回
ledger_outage = 経路の途絶{ $events }回
ledger_shared-overflow-once = 他と共有するキューのあふれ1回の回復
ledger_shared-overflow = 他と共有するキューのあふれ{ $events }回の回復
ledger_others = 他の通信による回線の使用
ledger_others-unseen = 他の通信による回線の使用、または回線の一時的な低速化
ledger_policed = ポリサーによる超過分の廃棄
ledger_receiver-window = 満杯の受信ウィンドウ
ledger_reader-stopped = 受信側のアプリケーションの読み出し停止1回
ledger_reader = 受信側のアプリケーションの読み出し待ち
ledger_writer = 送信側のアプリケーションのデータ待ち
ledger_send-buffer = 満杯の送信バッファ
ledger_protocol = プロトコルの応答待ち
ledger_mark-once = ECNマーク1個の後の増加
ledger_marks = ECNマーク{ $events }個の後の増加
ledger_reordering = ロスと見なされた順序入れ替わり
ledger_black-hole = 大きなパケットの消失
ledger_dscp = DSCP値による扱いの違い
ledger_device = 経路上の機器の処理能力
ledger_host-cpu = ホストのCPUの負荷
ledger_capture-loss = キャプチャの取りこぼし
ledger_unknown = 判定不能
ledger_other = { $cause }
