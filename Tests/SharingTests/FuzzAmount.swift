import Foundation

/// How much is sent from a seed.
enum FuzzAmount {
    /// `PUMPCTL_FUZZ_BYTES` of the environment, or else so many bytes.
    static func bytes(usually count: Int) -> Int {
        ProcessInfo.processInfo.environment["PUMPCTL_FUZZ_BYTES"].flatMap { Int($0) } ?? count
    }
}
