import DBus
import DescriptorIO
import Glibc
import TestSupport
import Testing

@Suite("Bus addresses", .serialized, .timeLimit(.minutes(5)))
struct BusTests {
    @Test func `The bus address comes from the environment`() async throws {
        await #expect(processExitsWith: .success) {
            let (system, session) = (try await PrivateBus(), try await PrivateBus())
            setenv("DBUS_SYSTEM_BUS_ADDRESS", system.address, 1)
            setenv("DBUS_SESSION_BUS_ADDRESS", session.address, 1)
            for (bus, named) in [(DBusBus.system, system), (.session, session)] {
                let connection = try await DBusConnection.open(bus)
                let direct = try await DBusConnection.open(.address(named.address))
                #expect(try await connection.call(toBus("GetId")) == direct.call(toBus("GetId")))
                await connection.close()
                await direct.close()
            }
            unsetenv("DBUS_SESSION_BUS_ADDRESS")
            unsetenv("XDG_RUNTIME_DIR")
            let error = await #expect(throws: DBusError.self) { try await DBusConnection.open(.session) }
            #expect(error?.code == .noBus)
            #expect(error?.hint != nil)
        }
    }

    @Test func `A connection on a loop with a borrowed thread calls its handlers on that thread`() async throws {
        let bus = try await PrivateBus()
        let (isNamed, isSame) = try await onThread {
            let caller = UInt(pthread_self())
            return EventLoop.run { loop in
                do {
                    let connection = try await DBusConnection.open(.address(bus.address), on: loop)
                    let runner = Watched<UInt>(0)
                    let subscription = try await connection.handleSignals(matching: .nameOwnerChanged("org.example.A"))
                    {
                        _ in runner.update { $0 = UInt(pthread_self()) }
                    }
                    let request = try await connection.requestName("org.example.A")
                    subscription.cancel()
                    await connection.close()
                    return (request == .owner, runner.state == caller)
                } catch {
                    return (false, false)
                }
            }
        }
        #expect(isNamed)
        #expect(isSame)
    }
}
