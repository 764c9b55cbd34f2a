### Answers of an experiment.


## Two variants against each other.

answer_faster = { $b }は{ $a }の{ $times }倍の速さです({ $rates })。{ $limits }。
answer_slower = { $b }は{ $a }より{ $less }遅くなります({ $rates })。{ $limits }。
answer_a-little-faster = { $b }は{ $a }より{ $more }速くなります({ $rates })。{ $limits }。
answer_same = { $a }と{ $b }の差は判定できません({ $rates })。{ $limits }。
answer_starves = { $a }は完了せず、{ $b }は完了します。{ $limits }。
answer_limit-both = 制限要因はどちらも{ $limit }
answer_limit-changes = 制限要因は{ $before }から{ $after }に変化
answer_limit-untold = 一方の制限要因は、これらの実行からは判定不能
answer_proof-held = 検証: { $change }で、予測{ $predicted }に対し実測{ $measured }で、成立しました。
answer_proof-refuted = 検証: { $change }で、予測{ $predicted }に対し実測{ $measured }で、不成立でした。
answer_proof-open = 検証: { $change }で、予測{ $predicted }に対し実測{ $measured }で、判定保留です。

## Where the time of several runs went.

answer_time = { $variant }({ $runs }回の平均): { $duration }のうち、{ $parts }です。
answer_time-once = { $variant }: { $duration }のうち、{ $parts }です。
answer_part-link = { $time }は回線自体
answer_part-start = { $time }はどの転送にも必要な接続確立とスロースタート{ $runs }
answer_part = { $time }は{ $cause }{ $runs }
answer_in-some = ({ $all }回中{ $some }回)
answer_in-all = { "" }

## Flows of two variants.

answer_flows = { $a }に対して{ $b }では、{ $flows }です。
answer_flow = { $name }のロスは{ $before }から{ $after }、速度は{ $rates }

## Layers, each on top of the other.

answer_layers = { $first }では{ $rate }です。{ $layers }。{ $end }
answer_layer-less = { $name }は{ $less }減
answer_layer-same = { $name }は減少なし
answer_layer-costliest = 最も影響が大きいのは{ $name }({ $less }減)で、制限要因は{ $limit }です。
answer_layer-none = { $most }を超えて遅くなる層はありません。

## What a way to measure measures.

answer_modes = 各ネットワークでの最高速度に対する割合: { $groups }。
answer_modes-path = 経路を測れるのは{ $modes }
answer_modes-window = 受信ウィンドウを測るのは{ $modes }
answer_modes-own = 自身の送信速度を測るのは{ $modes }
answer_modes-drops = ポリサーや機器が通す速度を測るのは{ $modes }
answer_modes-other = ほかの制限要因を測るのは{ $modes }
answer_mode = { $name }({ $lowest }〜{ $highest })
answer_mode-once = { $name }({ $share })
answer_mode-some = { $name }({ $all }のうち{ $some }、{ $lowest }〜{ $highest })
answer_mode-some-once = { $name }({ $all }のうち{ $some }、{ $share })

## The sender's own figure.

answer_sender-agrees = 送信側の値と受信側の値の差は、{ $all }行中{ $near }行で{ $most }以内です。
answer_sender-more = { $rows }行では、終了時に送信バッファに残る分も数えています。最大は{ $variant }で、届いた{ $receiver }に対し{ $sender }、残りは{ $waiting }です。
answer_sender-less = { $rows }行では、届いた量より少なく数えています。最小は{ $variant }で、届いた{ $receiver }に対し{ $sender }です。

## Datagrams.

answer_none-lost = { $all }行中{ $rows }行ではロスがありません。
answer_lost = ロスは{ $rows }です。
answer_lost-row = { $variant }で{ $share }
answer_lost-row-at = { $variant }で{ $share }(その{ $most }は{ $element }、{ $cause })
answer_jitter = ジッタは{ $all }行中{ $near }行で公表値の2倍以内です。最も離れているのは{ $variant }で、公表値{ $published }に対し{ $measured }です。

## A setting over a range.

answer_range-from = { $called }が{ $from }以上で、{ $b }は{ $a }より1割以上速くなり、{ $most }では{ $times }倍です。
answer_range-never = { $called }が{ $first }〜{ $last }のどこでも、{ $b }は{ $a }より1割以上速くなりません。
answer_range-always = { $called }が{ $first }〜{ $last }のどこでも、{ $b }は{ $a }より1割以上速くなります。
answer_range-set = 範囲の計算では、各変種の値の代わりに{ $set }を使用。
answer_range-steps = { $called }による{ $of }: { $groups }。
answer_range-counted = { $count }個の値で{ $rate }
answer_range-group = { $values }で{ $rate }
