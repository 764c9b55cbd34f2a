### Labels and single words.

## Limits as nouns

noun-receiver-window = 受信ウィンドウ
noun-receiver-application = 受信側のアプリケーション
noun-sender-application = 送信側のアプリケーション
noun-send-buffer = 送信バッファ
noun-protocol-window = プロトコルのウィンドウ
noun-bottleneck-bandwidth = 回線
noun-shared-bottleneck = 共有の回線
noun-policed = ポリサー
noun-random-loss = ランダムロス
noun-ecn-congestion = ECNマーク
noun-dscp-treatment = DSCP値による扱い
noun-device-limit = 経路上の機器
noun-host-cpu = ホストのCPU
noun-mtu-black-hole = PMTUDブラックホール
noun-slow-start = スロースタート
noun-capture-loss = キャプチャの取りこぼし
noun-unknown = 判定不能

## Heads of tables

head-variant = 条件
head-ratio = 比
head-health = 状態
head-simulated = 計算値
head-measured = 実測
head-published = 公表値
head-lab = ラボ
head-flow = フロー
head-sent = 送信
head-received = 受信
head-lost = ロス
head-delivered = 速度

## Facts and figures

figure-client = クライアント
figure-server = サーバ
figure-goodput = スループット
figure-limit = 制限要因
figure-lost = ロス
figure-timestamps = タイムスタンプ
figure-rate = 速度
figure-bucket = トークンバケット
figure-queue = キュー
figure-window = ウィンドウ
figure-marked = ECNマーク
figure-SACK = SACK
figure-ECN = ECN
figure-DSCP = DSCP

## States and flags of a ledger's entries (`figure-window` is above)

figure-handshake = 接続
figure-start = 開始
figure-growth = ウィンドウ増加
figure-repair = 回復
figure-timeout = タイムアウト
figure-link = 回線
figure-answer = 応答待ち
figure-idle = 未送信
figure-pace = 送信周期
figure-buffer = バッファ
figure-measurement = 測定環境
figure-unknown = 不明
figure-shared-with-other-flows = 他のフローと共有
figure-bufferbloat = バッファブロート
figure-mixed = 複合
figure-early-exit = スロースタートの早期終了
figure-short-queue = 短いキュー
figure-variable-rate = 速度の変動
figure-own-rate = 容量は自身の分
figure-outage = 経路の途絶

## Values

value-yes = あり
value-no = なし
figure-none = なし

## Outcomes and states

outcome-held = 成立
outcome-refuted = 不成立
outcome-undecided = 判定保留
state-valid = 有効
state-degraded = 精度低下
state-invalid = 無効
note-assumed = 仮定
note-excluded = 対象外
note-remarks = 備考

## Words of comparisons

word-slower = 遅く
word-faster = 速く

## Configurations

line-unrecognised = 認識不能
line-ignored = 無視
line-not-modelled = 未対応
line-doubtful = 要注意
line-modelled = 対応
config-count = { $state } { $number }
config-comma = 、
config-summary = { $system }として{ $lines }行を読みました: { $states }
place-add = 追加

## Tables of ranges, Wireshark, two captures

head-goodput = 転送速度
head-interval = 95%CI
head-limit = 制限要因
head-runs = 回数
sweep-runs = 各回{ $range }
wireshark-segments = 個数
wireshark-says = Wiresharkの表示
wireshark-slowpath = slowpathの判定
wireshark-frames = { $why }(フレーム{ $frames }{ $more })
pair-confidence = { $limit }(確信度{ $percent }%)
pair-between = 2つのキャプチャの間
sweep-tables = 表({ $folder }): sweep.csv、sweep.json、runs.parquet、ledgers.parquetなど
sweep-shard = この部分は{ $folder }にあります。すべての部分を計算したら: slowpath merge { $folder } ...

## Progress

run-line = { $bytes }B  { $seconds }秒  { $name }{ $state }{ $failed }
run-line-packets = { $sent }パケット中{ $received }
run-again = { $line }。最後に単独で再実行しました
run-failed = { $name }: 失敗: { $error }
run-progress = { $total }回中{ $finished }回、{ $left }
run-left = 残り約{ $seconds }秒
run-starting = 開始中
progress-reading = { "{decimal_total_bytes}" }中{ "{decimal_bytes}" }を読み取り、残り{ "{eta}" }
progress-runs = { "{len}" }回中{ "{pos}" }回、残り{ "{eta}" }

## Where a figure comes from, what there is not, comments of commands

origin-published = 公表値
origin-derived = 算出値
kind-command = コマンド
kind-tool = ツール
line-comment-receiver = # 受信側で
line-comment-sender = # 送信側で
line-comment-receive-buffer = # SO_RCVBUFを自分で指定するアプリケーションだけ
line-comment-send-buffer = # SO_SNDBUFを自分で指定するアプリケーションだけ
line-comment-client = # 送信するクライアントで
line-comment-server = # 送信するサーバで(その後に再読み込み)
line-comment-router = # Linuxのルータで
line-number = { $count }行目
