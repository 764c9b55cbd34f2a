// One bulk CUBIC flow over 1 Gbit/s, 5 ms each way, a queue of 1000 packets and 0.01 % loss each way, as in main.rs.
// Prints data packets received per second of processor time.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>

using namespace ns3;

int main() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetChannelAttribute("Delay", StringValue("5ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    auto devices = link.Install(nodes);
    for (uint32_t i = 0; i < 2; i++) {
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(0.0001);
        devices.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    }
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    const uint64_t bytes = 200000000;
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5001));
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    source.SetAttribute("SendSize", UintegerValue(131072));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    auto sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));
    Simulator::Stop(Seconds(600));
    const auto begun = std::clock();
    Simulator::Run();
    const double seconds = double(std::clock() - begun) / CLOCKS_PER_SEC;
    const auto received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    Simulator::Destroy();
    std::cout << double(received) / 1448 / seconds << std::endl;
    return 0;
}
