// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "pumpctl", path: "..")],
    targets: [
        .executableTarget(
            name: "session-roundtrip",
            dependencies: [
                .product(name: "LineProtocol", package: "pumpctl"), .product(name: "Transports", package: "pumpctl"),
                .product(name: "SerialPort", package: "pumpctl"), .product(name: "DescriptorIO", package: "pumpctl"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "many-sessions",
            dependencies: [
                .product(name: "LineProtocol", package: "pumpctl"), .product(name: "Transports", package: "pumpctl"),
                .product(name: "DescriptorIO", package: "pumpctl"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "recording",
            dependencies: [
                .product(name: "LineProtocol", package: "pumpctl"), .product(name: "Transports", package: "pumpctl"),
                .product(name: "SerialPort", package: "pumpctl"), .product(name: "DescriptorIO", package: "pumpctl"),
                .product(name: "Recorder", package: "pumpctl"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "notifications",
            dependencies: [
                .product(name: "LineProtocol", package: "pumpctl"), .product(name: "Transports", package: "pumpctl"),
                .product(name: "DescriptorIO", package: "pumpctl"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "lines", dependencies: [.product(name: "LineProtocol", package: "pumpctl")], swiftSettings: settings),
    ]
)
