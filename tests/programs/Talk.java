// SPDX-License-Identifier: MIT
// Talk: an HTTP server and its client, by the JDK's own classes, and bare sockets.
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Talk {
    static void http() throws Exception {
        HttpServer server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 20000);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(new byte[20000]);
            }
        });
        server.start();
        HttpClient client = HttpClient.newHttpClient();
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
        for (int i = 0; i < 20; i++) {
            byte[] got = client.send(HttpRequest.newBuilder(uri).build(),
                    HttpResponse.BodyHandlers.ofByteArray()).body();
            if (got.length != 20000)
                throw new Exception(got.length + " bytes");
        }
        server.stop(0);
    }

    static void sockets() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread echo = new Thread(() -> {
                try (Socket s = listener.accept()) {
                    s.getInputStream().transferTo(s.getOutputStream());
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            echo.start();
            try (Socket s = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
                s.setTcpNoDelay(true);
                InputStream in = s.getInputStream();
                for (int i = 1; i <= 100; i++) {
                    s.getOutputStream().write(new byte[i * 10]);
                    if (in.readNBytes(i * 10).length != i * 10)
                        throw new Exception("too few bytes");
                }
                s.shutdownOutput();
                in.readAllBytes();
            }
            echo.join();
        }
    }

    public static void main(String[] unused) throws Exception {
        sockets();
        http();
        System.exit(0); // the client's threads need not be waited for
    }
}
